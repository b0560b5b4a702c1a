/**
 * The module behind `buv:python` and `pyjs:python`: CPython inside this process.
 *
 *     using python = new Python();
 *     python.evaluate("x + 1", { x: 1 });
 *
 * Values go through JSON both ways: numbers are JavaScript's (an integer beyond 2**53 loses digits), and what JSON
 * has no form for is refused by Python and dropped or made null by `JSON.stringify`. One process hosts one CPython,
 * once: a second one is refused, also after the first has been closed.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { HostError, PythonError, type Told } from "./errors";
import { type Library, load } from "./native";

export { HostError, PythonError };

/** A value that goes through JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Which CPython is hosted; what is not given comes from the environment. */
export interface Options {
  /** The host library; BUN_PYTHON_HOST_LIBRARY. */
  readonly host?: string;
  /** CPython's shared library; BUN_PYTHON_LIBPYTHON. */
  readonly libpython?: string;
  /** The interpreter whose environment it is; BUN_PYTHON_EXECUTABLE. */
  readonly executable?: string;
  /** The interpreter's version, such as "3.12.1": a libpython of another is refused. What pyvenv.cfg says, else any. */
  readonly version?: string;
  /** The interpreter's options, as on its command line. */
  readonly flags?: readonly string[];
}

const NO_NAMES: Readonly<Record<string, Json>> = {};

/** CPython, running in this process until it is closed. */
export class Python implements Disposable {
  readonly #library: Library;
  #open = true;
  #sent = 0;
  #received = 0;

  /**
   * Open CPython.
   *
   * @throws HostError its `code` says why not.
   */
  constructor(options: Options = {}) {
    const executable = options.executable ?? variable("BUN_PYTHON_EXECUTABLE");
    const libpython = options.libpython ?? variable("BUN_PYTHON_LIBPYTHON");
    if (!existsSync(executable)) throw new HostError("unselected", `there is no interpreter ${executable}`);
    this.#library = load(options.host ?? variable("BUN_PYTHON_HOST_LIBRARY"));
    const version = options.version ?? minorOf(executable);
    this.#library.open(libpython, version, [executable, ...(options.flags ?? []), "-c", ""]);
  }

  /** The ABI of the host library. */
  get abi(): number {
    return this.#library.abi;
  }

  /** How much JSON went to Python and came back so far, in UTF-16 units: host transfers that no GPU sees. */
  get carried(): { readonly sent: number; readonly received: number } {
    return { received: this.#received, sent: this.#sent };
  }

  /**
   * Return the value of an expression; names stay in the name space that all expressions share.
   *
   * @throws PythonError Python raised an exception.
   */
  evaluate<T = Json>(expression: string, names: Readonly<Record<string, Json>> = NO_NAMES): T {
    return this.#ask<T>("evaluate", [expression, names]);
  }

  /**
   * Run statements in that name space.
   *
   * @throws PythonError Python raised an exception.
   */
  execute(statements: string, names: Readonly<Record<string, Json>> = NO_NAMES): void {
    this.#ask("execute", [statements, names]);
  }

  /**
   * Call a function, named as `module:name`.
   *
   * @throws PythonError Python raised an exception.
   */
  call<T = Json>(
    path: string,
    values: readonly Json[] = [],
    named: Readonly<Record<string, Json>> = NO_NAMES,
  ): T {
    return this.#ask<T>("call", [path, values, named]);
  }

  /** End CPython and return what destructors and threads could not raise; a second time does nothing. */
  close(): readonly Told[] {
    if (!this.#open) return [];
    this.#open = false;
    const { unraisable } = JSON.parse(this.#library.close()) as { readonly unraisable: readonly Told[] };
    return unraisable;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #ask<T>(operation: string, values: readonly Json[]): T {
    const given = JSON.stringify(values);
    this.#sent += given.length;
    const made = this.#library.call(operation, given);
    this.#received += made.length;
    return JSON.parse(made) as T;
  }
}

/** Return the version of an environment's interpreter, as "3.12", or "" where no pyvenv.cfg says it (PEP 405). */
function minorOf(executable: string): string {
  const file = join(dirname(dirname(executable)), "pyvenv.cfg");
  if (!existsSync(file)) return "";
  return /^version(?:_info)?\s*=\s*(\d+\.\d+)/mu.exec(readFileSync(file, "utf8"))?.[1] ?? "";
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new HostError("unselected", `${name} is not set`);
  return value;
}
