// Verifies a key-signed Sigstore bundle with npm's @sigstore/verify: node verify.mjs BUNDLE KEY.pem KEYID
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { bundleFromJSON } = createRequire(process.env.PEERS + "/")("@sigstore/bundle");
const { Verifier, toSignedEntity, toTrustMaterial } = createRequire(process.env.PEERS + "/")("@sigstore/verify");

const [path, key, keyid] = process.argv.slice(2);
const bundle = bundleFromJSON(JSON.parse(readFileSync(path, "utf8")));
const publicKey = createPublicKey(readFileSync(key, "utf8"));
const find = (hint) => {
  if (hint !== keyid) throw new Error(`no key ${hint}`);
  return { publicKey, validFor: () => true };
};
const trust = toTrustMaterial({ tlogs: [], ctlogs: [], timestampAuthorities: [], certificateAuthorities: [] }, find);
const thresholds = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 };
new Verifier(trust, thresholds).verify(toSignedEntity(bundle));
console.log("verified");
