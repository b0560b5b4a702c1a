/* The ABI of the host library, version 1.  Any change to what is here has the next number.
 *
 * Every answer is a block of its own, freed with assay_host_free(); NULL says that memory is short.  Text is UTF-8.
 * All functions may be called from any thread; CPython's lock serialises the calls.  One process hosts one CPython,
 * once: a second opening, and one after the end, are refused with a reason.
 */
#ifndef ASSAY_HOST_H
#define ASSAY_HOST_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ASSAY_HOST_API __declspec(dllexport)
#else
#define ASSAY_HOST_API __attribute__((visibility("default")))
#endif

#define ASSAY_HOST_ABI 1

enum {
    ASSAY_HOST_OK = 0,        /* data is JSON: the result */
    ASSAY_HOST_EXCEPTION = 1, /* data is JSON: {"type", "message", "traceback"} of a Python exception */
    ASSAY_HOST_REFUSED = 2,   /* data is text: a code, a line's end, and what happened */
};

typedef struct {
    uint32_t status;
    uint32_t reserved; /* 0 */
    uint64_t size;     /* bytes of data, without the NUL that follows them */
    char data[];
} assay_host_answer;

/* Returns ASSAY_HOST_ABI.  Whoever loads the library asks this first, and nothing else of another ABI. */
ASSAY_HOST_API uint32_t assay_host_abi(void);

/* Opens CPython.
 *   libpython  path of the shared library
 *   version    the interpreter's, such as "3.12.1" or "3.12": a libpython of another is refused; "" takes any
 *   words      count strings, each with its NUL: the interpreter's path, then its options, as on a command line
 * Refusals: already-open, already-closed, foreign, libpython-load, libpython-symbol, libpython-version, start.
 */
ASSAY_HOST_API assay_host_answer *assay_host_open(const char *libpython, const char *version, const char *words,
                                                  uint32_t count);

/* Has bootstrap.py's operation of that name done with a JSON list of arguments; see there.
 * Refusals: not-open, already-closed, broken.
 */
ASSAY_HOST_API assay_host_answer *assay_host_call(const char *operation, uint64_t length, const char *data,
                                                  uint64_t size);

/* Ends CPython; the result is {"unraisable": [exception, …]}, what destructors and threads could not raise.
 * Refusals: not-open, already-closed, thread, busy, end.
 */
ASSAY_HOST_API assay_host_answer *assay_host_close(void);

ASSAY_HOST_API void assay_host_free(assay_host_answer *answer);

#endif
