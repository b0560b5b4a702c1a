/** What plugin.ts serves. */
declare module "buv:python" {
  export * from "assay-hosted/python";
}

declare module "pyjs:python" {
  export * from "assay-hosted/python";
}
