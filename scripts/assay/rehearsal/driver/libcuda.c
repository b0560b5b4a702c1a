/* The C half of the CPU's CUDA driver: it exports the driver's names and hands every call to Python.
 *
 * Built with SONAME libcuda.so.1 and "names.h", a list of NAME(cuInit) lines (driver_names.txt).  Each function
 * takes eleven 64-bit integers: on x86-64 (System V ABI) and AArch64 (AAPCS64) every integer and pointer argument
 * of a call arrives so, whatever its declared width; the handlers read as many bits as cuda.h declares.  No
 * function of the driver has more than eleven parameters (cuLaunchKernel); the few that take a float or a large
 * structure by value have no handler.
 *
 * The first call looks for the CPython of this process (dlsym) and runs "start.py" beside this library, which
 * fills `handlers`.  Nothing is linked: a process without CPython gets CUDA_ERROR_NOT_INITIALIZED.
 * CUresult codes: cuda.h of CUDA 13.0.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

enum { NOT_INITIALIZED = 3, DEINITIALIZED = 4, UNKNOWN = 999 };
enum { FRESH, STARTING, READY, BROKEN };

typedef uint64_t Word;
typedef int Handler(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

#define NAME(name) PUBLIC Handler name;
#include "names.h"
#undef NAME

enum {
#define NAME(name) NUMBER_##name,
#include "names.h"
#undef NAME
    COUNT
};

static const char *const names[] = {
#define NAME(name) #name,
#include "names.h"
#undef NAME
};

static Handler *const functions[] = {
#define NAME(name) name,
#include "names.h"
#undef NAME
};

/* Filled by start.py; a name without a handler stays NULL and goes to `missing` with its number. */
static Handler *handlers[COUNT];

static struct {
    Word count;
    const char *const *names;
    Handler *const *functions;
    Handler **handlers;
    int (*missing)(Word);
} table = {COUNT, names, functions, handlers, NULL};

/* What is called of CPython, by the names of its C API. */
static struct {
    int (*initialized)(void);
    int (*finalizing)(void); /* public since 3.13, _Py_IsFinalizing before */
    int (*held)(void);
    void *(*thread)(void);
    int (*ensure)(void);
    void (*release)(int);
    void *(*save)(void);
    void (*restore)(void *);
    void (*fetch)(void **, void **, void **);
    void (*put_back)(void *, void *, void *);
    void (*print)(void);
    void *(*new_dict)(void);
    void *(*builtins)(void);
    int (*set_item)(void *, const char *, void *);
    void *(*text)(const char *);
    void *(*number)(unsigned long long);
    void *(*compile)(const char *, const char *, int);
    void *(*evaluate)(void *, void *, void *);
    void (*drop)(void *);
} python;

static atomic_int state = FRESH;
static pthread_t starter;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static pthread_once_t looked = PTHREAD_ONCE_INIT;
static int found;

static int find(void *field, const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(field, &symbol, sizeof symbol);
    return symbol != NULL;
}

#define FIND(field, name) find(&python.field, name)

static void look(void)
{
    (void)(FIND(finalizing, "Py_IsFinalizing") || FIND(finalizing, "_Py_IsFinalizing"));
    found = FIND(initialized, "Py_IsInitialized") && FIND(ensure, "PyGILState_Ensure") &&
            FIND(held, "PyGILState_Check") && FIND(thread, "PyGILState_GetThisThreadState") &&
            FIND(release, "PyGILState_Release") && FIND(save, "PyEval_SaveThread") &&
            FIND(restore, "PyEval_RestoreThread") && FIND(fetch, "PyErr_Fetch") &&
            FIND(put_back, "PyErr_Restore") && FIND(print, "PyErr_Print") && FIND(new_dict, "PyDict_New") &&
            FIND(builtins, "PyEval_GetBuiltins") && FIND(set_item, "PyDict_SetItemString") &&
            FIND(text, "PyUnicode_DecodeFSDefault") &&
            FIND(number, "PyLong_FromUnsignedLongLong") && FIND(compile, "Py_CompileString") &&
            FIND(evaluate, "PyEval_EvalCode") && FIND(drop, "Py_DecRef");
}

/* Whether Python code can be run here.  While the interpreter ends, the thread that ends it still can: objects
 * that are destroyed then give back what they hold, as with a real driver.  Any other thread would be stopped,
 * and when all is over the thread has no state (PyGILState_Check alone says yes then). */
static int is_alive(void)
{
    if (python.initialized() && !(python.finalizing && python.finalizing()))
        return 1;
    return python.thread() != NULL && python.held();
}

/* Return the text of start.py, which lies beside this library, and its path. */
static char *read_start(char *path, size_t size)
{
    Dl_info self;
    char *text = NULL;
    long length;
    FILE *file;
    if (!dladdr((void *)&table, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) : 1;
    if (snprintf(path, size, "%.*s/start.py", folder, slash ? self.dli_fname : ".") >= (int)size)
        return NULL;
    if (!(file = fopen(path, "rb")))
        return NULL;
    if (!fseek(file, 0, SEEK_END) && (length = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET) &&
        (text = calloc(1, (size_t)length + 1)) && fread(text, 1, (size_t)length, file) != (size_t)length) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* Run start.py in a namespace of its own; the GIL is held.  Return whether it ended well. */
static int run_start(void)
{
    enum { FILE_INPUT = 257 }; /* Py_file_input */
    char path[4096];
    char *text = read_start(path, sizeof path);
    void *scope, *file, *address, *code, *value = NULL;
    if (!text)
        return fprintf(stderr, "libcuda (CPU): there is no start.py beside the library\n"), 0;
    scope = python.new_dict();
    file = python.text(path);
    address = python.number((uintptr_t)&table);
    if (scope && file && address && !python.set_item(scope, "TABLE", address) &&
        !python.set_item(scope, "__builtins__", python.builtins()) &&
        !python.set_item(scope, "__file__", file) && (code = python.compile(text, path, FILE_INPUT))) {
        value = python.evaluate(code, scope, scope);
        python.drop(code);
    }
    if (!value)
        python.print();
    else
        python.drop(value);
    if (file)
        python.drop(file);
    if (address)
        python.drop(address);
    if (scope)
        python.drop(scope);
    free(text);
    return value != NULL;
}

/* Wait, without the GIL, until another thread's start has ended. */
static void wait_for_start(void)
{
    void *thread = python.save();
    pthread_mutex_lock(&waiting);
    while (atomic_load(&state) == STARTING)
        pthread_cond_wait(&started, &waiting);
    pthread_mutex_unlock(&waiting);
    python.restore(thread);
}

/* Start once; the GIL is held.  Return a CUresult. */
static int start(void)
{
    int expected = FRESH;
    if (atomic_compare_exchange_strong(&state, &expected, STARTING)) {
        starter = pthread_self();
        int ended = run_start() ? READY : BROKEN;
        pthread_mutex_lock(&waiting);
        atomic_store(&state, ended);
        pthread_cond_broadcast(&started);
        pthread_mutex_unlock(&waiting);
    } else if (expected == STARTING) {
        if (pthread_equal(starter, pthread_self()))
            return NOT_INITIALIZED; /* the handlers' own start called the driver */
        wait_for_start();
    }
    return atomic_load(&state) == READY ? 0 : UNKNOWN;
}

/* Answer a call that cannot reach the handlers.  Programs name every error that they get, and some crash where
 * even that fails (PyCUDA builds a string of what cuGetErrorString left). */
static int without_handlers(unsigned number, Word text, int code)
{
    static const char name[] = "CUDA_ERROR_DEINITIALIZED",
                      words[] = "the CPU's driver is not running: its interpreter has ended or could not start it";
    const char *answer = number == NUMBER_cuGetErrorName ? name : number == NUMBER_cuGetErrorString ? words : NULL;
    if (!answer || !text)
        return code;
    *(const char **)(uintptr_t)text = answer;
    return 0;
}

static int dispatch(unsigned number, Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i,
                    Word j, Word k)
{
    void *type, *value, *trace;
    pthread_once(&looked, look);
    if (!found)
        return without_handlers(number, b, NOT_INITIALIZED);
    if (!is_alive())
        return without_handlers(number, b, DEINITIALIZED);
    int held = python.ensure();
    python.fetch(&type, &value, &trace); /* a destructor may call while an exception is on its way */
    int code = atomic_load(&state) == READY ? 0 : start();
    if (code)
        code = without_handlers(number, b, code);
    else if (handlers[number])
        code = handlers[number](a, b, c, d, e, f, g, h, i, j, k);
    else
        code = table.missing(number);
    python.put_back(type, value, trace);
    python.release(held);
    return code;
}

#define NAME(name)                                                                                               \
    PUBLIC int name(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k)    \
    {                                                                                                            \
        return dispatch(NUMBER_##name, a, b, c, d, e, f, g, h, i, j, k);                                         \
    }
#include "names.h"
