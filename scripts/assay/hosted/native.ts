/**
 * The host library's functions (assay_host.h), called through bun:ffi.
 *
 * Importing this loads nothing: `load` opens the library.
 */

import { dlopen, type Pointer, read, toArrayBuffer } from "bun:ffi";

import { HostError, PythonError, type Told } from "./errors";

/** The ABI that is spoken here (assay_host.h, ASSAY_HOST_ABI). */
export const ABI = 1;

const VERSION_FUNCTION = "assay_host_abi";

/** Bytes of an answer before its data: status (u32), reserved (u32), size (u64). */
const HEAD = 16;
const SIZE_AT = 8;

const OK = 0;
const EXCEPTION = 1;

const SYMBOLS = {
  assay_host_open: { args: ["ptr", "ptr", "ptr", "u32"], returns: "ptr" },
  assay_host_call: { args: ["ptr", "u64", "ptr", "u64"], returns: "ptr" },
  assay_host_close: { args: [], returns: "ptr" },
  assay_host_free: { args: ["ptr"], returns: "void" },
} as const;

/** An answer's address as bun:ffi gives it. */
type Address = bigint | Pointer | null;

/** The host library, opened. */
export interface Library {
  readonly abi: number;
  open(libpython: string, version: string, words: readonly string[]): void;
  /** Return the JSON text of an operation's result. */
  call(operation: string, argumentsJson: string): string;
  close(): string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Open a host library.
 *
 * @throws HostError `host-load`, `host-abi-missing`, `host-abi-other` or `host-symbol`: nothing of a library of
 * another ABI is called but its version function.
 */
export function load(path: string): Library {
  const abi = abiOf(path);
  const { symbols } = opened(path, SYMBOLS, "host-symbol");
  const answered = (answer: Address): string => {
    if (answer === null) throw new HostError("broken", "memory is short");
    try {
      // user space ends below 2**53
      return taken(Number(answer) as Pointer);
    } finally {
      symbols.assay_host_free(answer);
    }
  };
  return {
    abi,
    open(libpython, version, words) {
      const list = encoder.encode(words.map((word) => `${word}\0`).join(""));
      answered(symbols.assay_host_open(terminated(libpython), terminated(version), list, words.length));
    },
    call(operation, argumentsJson) {
      const name = encoder.encode(operation);
      const data = encoder.encode(argumentsJson);
      return answered(symbols.assay_host_call(name, name.length, data, data.length));
    },
    close: () => answered(symbols.assay_host_close()),
  };
}

/** Ask a library for its ABI, and for nothing else. */
function abiOf(path: string): number {
  const asked = { [VERSION_FUNCTION]: { args: [], returns: "u32" } } as const;
  const { symbols } = opened(path, asked, "host-abi-missing");
  const abi = symbols[VERSION_FUNCTION]();
  if (abi !== ABI) throw new HostError("host-abi-other", `${path} has ABI ${abi}, not ${ABI}`);
  return abi;
}

/** Open a library with some of its functions; `code` is of a library that lacks one. */
function opened<T extends Parameters<typeof dlopen>[1]>(
  path: string,
  symbols: T,
  code: string,
): ReturnType<typeof dlopen<T>> {
  try {
    return dlopen(path, symbols);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new HostError(said.startsWith("Symbol ") ? code : "host-load", said);
  }
}

/** Return what an answer holds, or throw it. */
function taken(answer: Pointer): string {
  const status = read.u32(answer, 0);
  const size = Number(read.u64(answer, SIZE_AT));
  const text = size === 0 ? "" : decoder.decode(toArrayBuffer(answer, HEAD, size));
  if (status === OK) return text;
  if (status === EXCEPTION) {
    const told = JSON.parse(text) as Told;
    throw new PythonError(told.type, told.message, told.traceback);
  }
  const [code = "", ...message] = text.split("\n");
  throw new HostError(code, message.join("\n"));
}

/** Return text as C has it. */
function terminated(text: string): Uint8Array {
  return encoder.encode(`${text}\0`);
}
