#!/bin/sh
# nvcc for a rehearsal: a CUBIN is code for a GPU, so PTX is made under its name, with source lines.
# Everything else goes to the next nvcc on PATH as it stands.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
real=
IFS=:
for folder in $PATH; do
  if [ -x "$folder/nvcc" ] && [ "$(CDPATH='' cd -- "$folder" && pwd -P)" != "$here" ]; then
    real=$folder/nvcc
    break
  fi
done
unset IFS
if [ -z "$real" ]; then
  echo "nvcc (rehearsal): there is no other nvcc on PATH" >&2
  exit 127
fi

cubin= output= source= count=$#
while [ "$count" -gt 0 ]; do
  word=$1
  shift
  count=$((count - 1))
  case $word in
    --cubin | -cubin) cubin=yes && word=--ptx ;;
    -o | --output-file) output=yes ;;
    *.cu) source=$word ;;
  esac
  set -- "$@" "$word"
done
if [ -z "$cubin" ]; then exec "$real" "$@"; fi
if [ -z "$output" ]; then
  name=${source##*/}
  set -- "$@" -o "${name%.cu}.cubin"
fi
exec "$real" -lineinfo "$@"
