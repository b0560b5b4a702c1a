/**
 * What gate `hosted` runs: the chain's child inside Bun.
 *
 *     bun --preload plugin.ts main.ts REPORT CHAIN.ZIP VERSION WORD...
 *
 * The words are the command line of the chain's own child, which runs in the hosted CPython and reports over the
 * same descriptors. What only Bun's side knows goes to REPORT, one JSON object a line, each written before the next
 * thing is begun; the gate reads it. The exit code is the chain's, or 1 where something here failed.
 */

import { appendFileSync, readFileSync } from "node:fs";

import { HostError, Python, PythonError } from "buv:python";
import { Python as Other } from "pyjs:python";

import { fromWords, GpuRuntime, toWords } from "./gpu";
import type { Json } from "./python";

interface Stage {
  readonly entry: string;
  readonly name: string;
  readonly runtime: string;
  readonly text: string;
}

interface Request {
  readonly adapter: Json;
  readonly architecture: string;
  readonly chains: readonly {
    readonly canonical: readonly string[];
    readonly name: string;
    readonly stages: readonly (Stage & { readonly input: string })[];
  }[];
}

const ABOUT = `{
  "base_prefix": sys.base_prefix, "executable": sys.executable, "path": sys.path, "pid": os.getpid(),
  "prefix": sys.prefix, "version": platform.python_version(),
  "numpy": {"file": numpy.__file__, "version": numpy.__version__},
}`;

/** The most values that a report lists. */
const LISTED = 4096;

/** The least bytes of the text that goes to Python and back once, in UTF-8, with all kinds of characters. */
const ECHO = 10 << 20;
const KINDS = 'é漢😀\u0000"\\';

const [report = "", chain = "", version = "", ...words] = Bun.argv.slice(2);
process.exitCode = main();

function main(): number {
  const constructors = { same: Python === Other, kind: typeof Python };
  tell("bun", { ...constructors, pid: process.pid, revision: Bun.revision, version: Bun.version });
  try {
    return hosted();
  } catch (error) {
    if (error instanceof HostError) tell("refused", { code: error.code, message: error.message });
    else if (error instanceof PythonError)
      tell("exception", { message: error.message, traceback: error.traceback, type: error.type });
    else throw error;
    return 1;
  }
}

function hosted(): number {
  const python = new Python({ flags: ["-s", "-B"], version });
  tell("opened", { abi: python.abi });
  try {
    python.execute("import os, platform, sys\nimport numpy");
    tell("python", python.evaluate(ABOUT));
    tell("second", second());
    python.execute("sys.path.insert(0, chain)", { chain });
    const code = python.call<number>("assay_chain.main:main", [words]);
    tell("chain", { exit: code });
    if (code === 0) tell("gpu", gpu(python));
    return code;
  } finally {
    const unraisable = python.close();
    tell("closed", { ...python.carried, unraisable });
  }
}

/** A second host has to be refused. */
function second(): Json {
  try {
    new Other().close();
  } catch (error) {
    if (error instanceof HostError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: "", message: "a second host was opened" };
}

/** Run each stage that wgpu or NVRTC has on the canonical values alone, from here: values go through JSON. */
function gpu(python: Python): Json {
  const path = words[words.indexOf("--request") + 1] ?? "";
  const { adapter, architecture, chains } = JSON.parse(readFileSync(path, "utf8")) as Request;
  const echo = KINDS.repeat(Math.ceil(ECHO / Buffer.byteLength(KINDS)));
  using runtime = GpuRuntime.load(python, { adapter, architecture, chain });
  const listed = chains.filter(({ canonical }) => canonical.length <= LISTED);
  const results = listed.flatMap(({ canonical, name, stages }) =>
    stages
      .filter((stage) => stage.input === "values" && stage.runtime !== "pycuda")
      .map((stage) => ({ chain: name, stage: stage.name, values: ran(runtime, stage, canonical) })),
  );
  return { echoed: python.evaluate("echo", { echo }) === echo, results };
}

function ran(runtime: GpuRuntime, stage: Stage, canonical: readonly string[]): readonly string[] {
  const values = fromWords(canonical.join(""));
  const run = stage.runtime === "wgpu" ? runtime.wgsl.bind(runtime) : runtime.cuda.bind(runtime);
  return toWords(run(stage.text, stage.entry, values)).match(/.{8}/gu) ?? [];
}

function tell(step: string, said: Json): void {
  appendFileSync(report, `${JSON.stringify({ said, step }, whole)}\n`);
}

/** Half a surrogate pair, as Python's names of files may have, is no character that a document may hold. */
function whole(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
