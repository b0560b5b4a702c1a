/**
 * `GpuRuntime`: single kernels, WGSL through the selected provider and CUDA through NVRTC, on the GPU.
 *
 *     using gpu = GpuRuntime.load(python, { chain, adapter });
 *     gpu.wgsl(source, "twice", new Float32Array([1, 2, 3]));
 *
 * Importing this loads nothing: `load` opens the provider and the device, in the CPython that it is given. Every
 * call compiles, dispatches, waits and reads back; values go through JSON as hexadecimal words, bit for bit.
 */

import type { Json, Python } from "./python";

/** What is opened. */
export interface GpuOptions {
  /** The chain package: a zip or folder that Python imports it from. */
  readonly chain: string;
  /** Which adapter of wgpu is wanted; no other is taken. Null for CUDA alone. */
  readonly adapter: Json;
  /** What CUDA is compiled for. */
  readonly architecture?: string;
  /** CUDA's number of the device. */
  readonly ordinal?: number;
}

const WGSL = "wgpu";
const CUDA = "nvrtc";

const HEXADECIMAL = 16;
const DIGITS = 8;

/** Both runtimes, open until they are closed. */
export class GpuRuntime implements Disposable {
  readonly #python: Python;
  #open = true;

  private constructor(python: Python) {
    this.#python = python;
  }

  /**
   * Open the provider and the CUDA device.
   *
   * @throws PythonError the machine or the selection lacks something.
   */
  static load(python: Python, options: GpuOptions): GpuRuntime {
    const { adapter, architecture = "sm_75", chain, ordinal = 0 } = options;
    python.execute("import sys; chain in sys.path or sys.path.insert(0, chain)", { chain });
    python.execute(
      "from assay_chain.gpu import Gpu; gpu = Gpu.load(adapter, architecture, ordinal); del Gpu",
      { adapter, architecture, ordinal },
    );
    return new GpuRuntime(python);
  }

  /** What provider and driver say of themselves and of the device. */
  facts(): Json {
    return this.#python.evaluate("gpu.facts()");
  }

  /** Run a WGSL kernel: `@binding(0)` is read, `@binding(1)` written, both `array<f32>`. */
  wgsl(source: string, entry: string, values: Float32Array): Float32Array {
    return this.#run(WGSL, source, entry, values);
  }

  /** Run a CUDA kernel `(const float *in, float *out, unsigned int count)`. */
  cuda(source: string, entry: string, values: Float32Array): Float32Array {
    return this.#run(CUDA, source, entry, values);
  }

  /** Close both; a second time does nothing. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#python.execute("gpu.close(); del gpu");
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #run(runtime: string, source: string, entry: string, values: Float32Array): Float32Array {
    const given = { runtime, source, entry, values: toWords(values) };
    return fromWords(this.#python.evaluate<string>("gpu.run(runtime, source, entry, values)", given));
  }
}

/** Return values as words: 8 hexadecimal digits each, the highest byte first; NaNs keep their bits. */
export function toWords(values: Float32Array): string {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Array.from(bits, (word) => word.toString(HEXADECIMAL).padStart(DIGITS, "0")).join("");
}

/** Return the values of words. */
export function fromWords(words: string): Float32Array {
  const bits = Uint32Array.from(words.match(/.{8}/gu) ?? [], (word) => Number.parseInt(word, HEXADECIMAL));
  return new Float32Array(bits.buffer);
}
