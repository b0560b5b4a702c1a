"""Texts that the page and the README share; ``assay.docs`` writes them into the README."""

from __future__ import annotations

PROVES = (
    (
        "Digests prove *consistency*: that nothing was changed since the digest that you were told. They do "
        "not say who made it: a run that somebody makes up from beginning to end, values included, is intact "
        "too. A signature says who vouches, no more."
    ),
    (
        "The fresh values of a chain derive from the run's nonce: they show that results were not copied from"
        " an earlier run, not that a GPU computed them. `--challenge` adds a value that you chose, and so "
        "proves that the run came later than your choice."
    ),
    (
        "The tier is derived from what the chain's process had mapped and open, never from a flag. Still, the"
        " owner of a machine who controls its kernel can show any process anything. A bundle is evidence, not"
        " an oracle."
    ),
    (
        "A selected binary is named by its digest: a claim is *of that artifact*, not of the commit it says "
        "it was built from."
    ),
)
"""What a bundle proves, and what it cannot: one paragraph each, with `code` and *emphasis* as in Markdown."""

BY_HAND = r"""tar -xf "$BUNDLE"
sha256sum manifest.json                  # the bundle digest: compare it with the one that you were told
listed=$(grep -o '"name":"[^"]*","sha256":"[0-9a-f]*"' manifest.json |
  sed 's/"name":"\(.*\)","sha256":"\(.*\)"/\2  \1/')
echo "$listed" | sha256sum --check --strict
others=$(tar -tf "$BUNDLE" | tail -n +2) # what else is in it than the manifest: what the manifest lists
test "$others" = "$(echo "$listed" | cut -c 67-)" && echo "nothing else is in it"
prev=$(printf '0%.0s' $(seq 64))         # the journal: each line names the SHA-256 of the line before
while IFS= read -r line; do
  case $line in *"\"prev\":\"$prev\""*) echo "linked: $line" ;; *) echo "BROKEN: $line"; break ;; esac
  prev=$(printf %s "$line" | sha256sum | cut -d ' ' -f 1)
done < journal.jsonl
"""
"""Checks the bundle that ``BUNDLE`` names, in an empty folder, with ``tar`` and ``sha256sum`` alone."""
