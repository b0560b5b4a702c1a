/** Serves `buv:python` and `pyjs:python` from one module: `bun --preload plugin.ts program.ts`. */

import { plugin } from "bun";

import * as python from "./python";

/** The names of the one module. */
export const NAMES = ["buv:python", "pyjs:python"] as const;

plugin({
  name: "python",
  setup(build) {
    for (const name of NAMES) build.module(name, () => ({ exports: { ...python }, loader: "object" }));
  },
});
