/* The library that hosts CPython inside another process, such as Bun: BUN_PYTHON_HOST_LIBRARY.
 *
 * It is built without CPython's headers and linked with no libpython.  assay_host_open() loads the libpython that
 * it is given so that extension modules find CPython's symbols (RTLD_GLOBAL), and looks every function up by name,
 * so that one binary serves every CPython from 3.10 on.  Nothing here depends on a structure's layout but PyStatus,
 * whose members PEP 587 documents and which has not changed since it came (3.8):  a PyConfig is made, filled and
 * cleared by CPython's own functions, in room that is larger than any (536 bytes in CPython 3.14), and says all
 * that it has to say as a command line (PyConfig.parse_argv is 1 in a "Python configuration").
 *
 * The ABI is assay_host.h.  Linux runs it; macOS and Windows are written and not tested.
 */
#define _GNU_SOURCE
#include "assay_host.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "bootstrap.h" /* static const char bootstrap[]: bootstrap.py, written by the build */

typedef struct PyObject PyObject;
typedef struct PyThreadState PyThreadState;

/* PEP 587, "PyStatus": _type is 0 for success, 1 for an error, 2 where the program is to exit. */
typedef struct {
    int type;
    const char *func;
    const char *err_msg;
    int exitcode;
} PyStatus;

/* Room for a PyConfig, which is opaque here. */
typedef union {
    max_align_t aligned;
    char room[16384];
} PyConfig;

enum { FILE_INPUT = 257 }; /* Py_file_input (compile.h) */
enum { GIL = 1 };

/* Every function that is called, by CPython's name: result, name, parameters. */
#define FUNCTIONS(F)                                                                                                  \
    F(const char *, Py_GetVersion, (void))                                                                            \
    F(int, Py_IsInitialized, (void))                                                                                  \
    F(void, PyConfig_InitPythonConfig, (PyConfig *))                                                                  \
    F(PyStatus, PyConfig_SetBytesArgv, (PyConfig *, ptrdiff_t, char *const *))                                        \
    F(PyStatus, Py_InitializeFromConfig, (const PyConfig *))                                                          \
    F(void, PyConfig_Clear, (PyConfig *))                                                                             \
    F(int, Py_FinalizeEx, (void))                                                                                     \
    F(PyThreadState *, PyEval_SaveThread, (void))                                                                     \
    F(void, PyEval_RestoreThread, (PyThreadState *))                                                                  \
    F(int, PyGILState_Ensure, (void))                                                                                 \
    F(void, PyGILState_Release, (int))                                                                                \
    F(PyObject *, PyImport_AddModule, (const char *))                                                                 \
    F(PyObject *, PyModule_GetDict, (PyObject *))                                                                     \
    F(PyObject *, Py_CompileString, (const char *, const char *, int))                                                \
    F(PyObject *, PyEval_EvalCode, (PyObject *, PyObject *, PyObject *))                                              \
    F(PyObject *, PyEval_GetBuiltins, (void))                                                                         \
    F(int, PyDict_SetItemString, (PyObject *, const char *, PyObject *))                                              \
    F(PyObject *, PyDict_GetItemString, (PyObject *, const char *))                                                   \
    F(PyObject *, PyBytes_FromStringAndSize, (const char *, ptrdiff_t))                                               \
    F(int, PyBytes_AsStringAndSize, (PyObject *, char **, ptrdiff_t *))                                               \
    F(PyObject *, PyObject_CallFunctionObjArgs, (PyObject *, ...))                                                    \
    F(void, PyErr_Clear, (void))                                                                                      \
    F(void, PyErr_Print, (void))                                                                                      \
    F(void, Py_IncRef, (PyObject *))                                                                                  \
    F(void, Py_DecRef, (PyObject *))

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} python;

/* ------------------------------------------------------------------------------------------------ the platform */

#if defined(_WIN32)
#include <windows.h>
typedef DWORD ThreadId;
static ThreadId this_thread(void) { return GetCurrentThreadId(); }
static int same_thread(ThreadId one, ThreadId other) { return one == other; }

static wchar_t *wide(const char *text)
{
    int size = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *made = size > 0 ? malloc((size_t)size * sizeof *made) : NULL;
    if (made && !MultiByteToWideChar(CP_UTF8, 0, text, -1, made, size)) {
        free(made);
        made = NULL;
    }
    return made;
}

/* Windows has one name space of symbols a library; extension modules name the DLL, which is then loaded. */
static int cpython_is_here(const char *path)
{
    wchar_t *name = wide(path);
    int found = name && GetModuleHandleW(name) != NULL;
    free(name);
    return found;
}

static void *load(const char *path, char *reason, size_t size)
{
    wchar_t *name = wide(path);
    HMODULE loaded = name ? LoadLibraryExW(name, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
    if (!loaded) {
        snprintf(reason, size, "%s: Windows error %lu", path, GetLastError());
    }
    free(name);
    return (void *)loaded;
}

static void *look_up(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }

typedef int Signals;
static void keep_signals(Signals *kept) { *kept = 0; }
static void put_back_signals(const Signals *kept) { (void)kept; }

#elif defined(__linux__) || defined(__APPLE__)
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
typedef pthread_t ThreadId;
static ThreadId this_thread(void) { return pthread_self(); }
static int same_thread(ThreadId one, ThreadId other) { return pthread_equal(one, other); }

/* A CPython that somebody opened before, globally or this very file, may run or have ended: NumPy cannot start
 * twice in either case. */
static int cpython_is_here(const char *path)
{
    if (dlsym(RTLD_DEFAULT, "Py_IsInitialized")) {
        return 1;
    }
    void *loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    int (*running)(void) = NULL;
    if (loaded) {
        *(void **)&running = dlsym(loaded, "Py_IsInitialized");
        dlclose(loaded);
    }
    return running && running();
}

static void *load(const char *path, char *reason, size_t size)
{
    void *loaded = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!loaded) {
        const char *said = dlerror();
        snprintf(reason, size, "%s", said ? said : path);
    }
    return loaded;
}

static void *look_up(void *library, const char *name) { return dlsym(library, name); }

/* CPython takes these at its start (PyConfig.install_signal_handlers); they are the embedding program's. */
static const int taken[] = {SIGINT, SIGPIPE, SIGXFSZ};
enum { TAKEN = sizeof taken / sizeof *taken };
typedef struct {
    struct sigaction actions[TAKEN];
} Signals;

static void keep_signals(Signals *kept)
{
    for (int at = 0; at < TAKEN; at++) {
        sigaction(taken[at], NULL, &kept->actions[at]);
    }
}

static void put_back_signals(const Signals *kept)
{
    for (int at = 0; at < TAKEN; at++) {
        sigaction(taken[at], &kept->actions[at], NULL);
    }
}

#else
#error "this system's way to open libraries is not known here"
#endif

/* --------------------------------------------------------------------------------------------------- the state */

enum { FRESH, OPENING, OPEN, CLOSING, CLOSED };

static atomic_int state = FRESH;
static atomic_int calls; /* in flight, in any thread */
static ThreadId opener;
static PyThreadState *resting; /* the opener's, while no call is in flight */
static PyObject *serve;        /* bootstrap.py's function */

/* ----------------------------------------------------------------------------------------------------- answers */

static assay_host_answer *answer(uint32_t status, const char *data, size_t size)
{
    assay_host_answer *made = malloc(sizeof *made + size + 1);
    if (made) {
        made->status = status;
        made->reserved = 0;
        made->size = size;
        if (size) {
            memcpy(made->data, data, size);
        }
        made->data[size] = '\0';
    }
    return made;
}

/* A code and, after a line's end, what happened. */
static assay_host_answer *refuse(const char *code, const char *format, ...)
{
    char text[4096];
    int begun = snprintf(text, sizeof text, "%s\n", code);
    va_list values;
    va_start(values, format);
    vsnprintf(text + begun, sizeof text - (size_t)begun, format, values);
    va_end(values);
    return answer(ASSAY_HOST_REFUSED, text, strlen(text));
}

static assay_host_answer *not_open(int now)
{
    if (now == CLOSED || now == CLOSING) {
        return refuse("already-closed", "this process's CPython has been closed; extension modules such as NumPy "
                                        "cannot start twice in one process");
    }
    if (now == FRESH) {
        return refuse("not-open", "no CPython has been opened in this process");
    }
    return refuse("already-open", "a CPython runs in this process already; one process hosts one");
}

/* ----------------------------------------------------------------------------------------------------- opening */

static assay_host_answer *find_functions(void *library, const char *path)
{
    static const char *const names[] = {
#define NAME(result, name, parameters) #name,
        FUNCTIONS(NAME)
#undef NAME
    };
    void **const places[] = {
#define PLACE(result, name, parameters) (void **)&python.name,
        FUNCTIONS(PLACE)
#undef PLACE
    };
    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        *places[at] = look_up(library, names[at]);
        if (!*places[at]) {
            return refuse("libpython-symbol", "%s has no %s", path, names[at]);
        }
    }
    return NULL;
}

/* Py_GetVersion() may be called before the start; "3.12.1 (main, ...)" is of "3.12.1" and of "3.12". */
static assay_host_answer *check_version(const char *path, const char *wanted)
{
    const char *told = python.Py_GetVersion();
    size_t size = strlen(wanted);
    if (!size || (strncmp(told, wanted, size) == 0 && (told[size] == ' ' || told[size] == '.'))) {
        return NULL;
    }
    int shown = (int)strcspn(told, " ");
    return refuse("libpython-version", "%s is CPython %.*s, the interpreter %s", path, shown, told, wanted);
}

static assay_host_answer *failed(PyStatus status, const char *doing)
{
    if (status.type == 0) {
        return NULL;
    }
    const char *said = status.err_msg ? status.err_msg : "it wants to exit";
    return refuse("start", "CPython could not %s: %s%s%s", doing, status.func ? status.func : "",
                  status.func ? ": " : "", said);
}

static assay_host_answer *start(char *const *words, uint32_t count)
{
    static PyConfig config;
    Signals kept;
    keep_signals(&kept);
    python.PyConfig_InitPythonConfig(&config);
    assay_host_answer *wrong = failed(python.PyConfig_SetBytesArgv(&config, count, words), "read its command line");
    if (!wrong) {
        wrong = failed(python.Py_InitializeFromConfig(&config), "start");
    }
    python.PyConfig_Clear(&config);
    put_back_signals(&kept);
    return wrong;
}

/* The module's code defines `serve`, which is kept; its name is of no other use. */
static assay_host_answer *load_bootstrap(void)
{
    PyObject *module = python.PyImport_AddModule("_assay_host"); /* borrowed */
    PyObject *names = module ? python.PyModule_GetDict(module) : NULL; /* borrowed */
    PyObject *code = names ? python.Py_CompileString(bootstrap, "<assay_host>", FILE_INPUT) : NULL;
    PyObject *done = NULL;
    if (code && python.PyDict_SetItemString(names, "__builtins__", python.PyEval_GetBuiltins()) == 0) {
        done = python.PyEval_EvalCode(code, names, names);
    }
    serve = done ? python.PyDict_GetItemString(names, "serve") : NULL; /* borrowed */
    if (serve) {
        python.Py_IncRef(serve);
    } else {
        python.PyErr_Print();
    }
    python.Py_DecRef(done);
    python.Py_DecRef(code);
    return serve ? NULL : refuse("start", "CPython could not run the host's own module");
}

static assay_host_answer *open_fresh(const char *path, const char *version, char *const *words, uint32_t count)
{
    char reason[2048];
    if (cpython_is_here(path)) {
        return refuse("foreign", "another host has opened a CPython in this process; one process hosts one");
    }
    void *library = load(path, reason, sizeof reason);
    if (!library) {
        return refuse("libpython-load", "%s", reason);
    }
    assay_host_answer *wrong = find_functions(library, path);
    wrong = wrong ? wrong : check_version(path, version);
    wrong = wrong ? wrong : start(words, count);
    wrong = wrong ? wrong : load_bootstrap();
    if (!wrong) {
        opener = this_thread();
        resting = python.PyEval_SaveThread();
    }
    return wrong;
}

/* Words lie one after the other, each with its NUL. */
static char **split(const char *words, uint32_t count)
{
    char **made = calloc((size_t)count + 1, sizeof *made);
    for (uint32_t at = 0; made && at < count; at++) {
        made[at] = (char *)words;
        words += strlen(words) + 1;
    }
    return made;
}

/* ------------------------------------------------------------------------------------------------------- calls */

/* What `serve` gave: a byte for the status, then JSON. */
static assay_host_answer *told(PyObject *given)
{
    char *data = NULL;
    ptrdiff_t size = 0;
    if (!given || python.PyBytes_AsStringAndSize(given, &data, &size) != 0 || size < 1) {
        python.PyErr_Clear();
        return refuse("broken", "an exception could not be told: memory is short, or Python is ending");
    }
    return answer(data[0] == '0' ? ASSAY_HOST_OK : ASSAY_HOST_EXCEPTION, data + 1, (size_t)size - 1);
}

static assay_host_answer *ask(const char *operation, size_t length, const char *data, size_t size)
{
    PyObject *name = python.PyBytes_FromStringAndSize(operation, (ptrdiff_t)length);
    PyObject *given = name ? python.PyBytes_FromStringAndSize(data, (ptrdiff_t)size) : NULL;
    PyObject *made = given ? python.PyObject_CallFunctionObjArgs(serve, name, given, NULL) : NULL;
    assay_host_answer *all = told(made);
    python.Py_DecRef(made);
    python.Py_DecRef(given);
    python.Py_DecRef(name);
    return all;
}

/* ------------------------------------------------------------------------------------------------------ the ABI */

uint32_t assay_host_abi(void) { return ASSAY_HOST_ABI; }

assay_host_answer *assay_host_open(const char *libpython, const char *version, const char *words, uint32_t count)
{
    int before = FRESH;
    if (!atomic_compare_exchange_strong(&state, &before, OPENING)) {
        return not_open(before);
    }
    char **list = split(words, count);
    assay_host_answer *wrong =
        list ? open_fresh(libpython, version, list, count) : refuse("broken", "memory is short");
    free(list);
    atomic_store(&state, wrong ? CLOSED : OPEN);
    return wrong ? wrong : answer(ASSAY_HOST_OK, "", 0);
}

assay_host_answer *assay_host_call(const char *operation, uint64_t length, const char *data, uint64_t size)
{
    atomic_fetch_add(&calls, 1); /* before the look at the state: see assay_host_close */
    int now = atomic_load(&state);
    assay_host_answer *made;
    if (now == OPEN) {
        int held = python.PyGILState_Ensure();
        made = ask(operation, (size_t)length, data, (size_t)size);
        python.PyGILState_Release(held);
    } else {
        made = not_open(now);
    }
    atomic_fetch_sub(&calls, 1);
    return made;
}

assay_host_answer *assay_host_close(void)
{
    int before = OPEN;
    if (atomic_load(&state) == OPEN && !same_thread(opener, this_thread())) {
        return refuse("thread", "CPython is closed by the thread that opened it");
    }
    if (!atomic_compare_exchange_strong(&state, &before, CLOSING)) {
        return not_open(before);
    }
    if (atomic_load(&calls)) { /* whoever comes now sees CLOSING and is refused */
        atomic_store(&state, OPEN);
        return refuse("busy", "a call is in flight");
    }
    Signals kept;
    keep_signals(&kept);
    python.PyEval_RestoreThread(resting);
    assay_host_answer *last = ask("end", 3, "[]", 2);
    python.Py_DecRef(serve);
    serve = NULL;
    int ended = python.Py_FinalizeEx();
    put_back_signals(&kept);
    atomic_store(&state, CLOSED);
    if (ended != 0) {
        assay_host_free(last);
        return refuse("end", "CPython ended and could not write what it had still to write");
    }
    return last;
}

void assay_host_free(assay_host_answer *given) { free(given); }
