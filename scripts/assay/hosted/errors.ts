/** What can go wrong between Bun and CPython. */

/** What Python could not raise, as `PythonError` tells it. */
export type Told = Readonly<Record<"message" | "traceback" | "type", string>>;

/** Why there is no CPython to speak to; `code` is stable (assay_host.h names the library's). */
export class HostError extends Error {
  override readonly name = "HostError";

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** An exception that Python raised, with Python's own traceback. */
export class PythonError extends Error {
  override readonly name = "PythonError";

  constructor(
    readonly type: string,
    message: string,
    readonly traceback: string,
  ) {
    super(message);
  }
}
