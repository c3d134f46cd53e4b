// Calls from Fortran: mpif.h, `use mpi` and mpi_f08. A procedure passes its arguments on without interpretation, and is
// recorded if it is the outermost call: then its arguments are converted to those of the call in C.
//
// Kinds of arguments in fortran.inc, in the order of the arguments in C; the second letter is the direction (i: in, o:
// out, u: both, a: array):
//   b buffer   i integer   l integer of 8 bytes   f logical   x index   s status   z text   p not converted   0 not in
//   Fortran handles: c communicator   t datatype   r request   h file   w window   m message   e session   o operation
#define _GNU_SOURCE
#include "bytes.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { octant_max_slots = 16, small_array = 64 };

struct procedure {
    char const* name;
    short function;
    char form;  // m: mpif.h, f: mpi_f08, t: mpi_f08 with array descriptors in place of buffers
    signed char slots;
    signed char error;  // slot of ierror; -1: none
    char const* kinds;
};

static struct procedure const procedures[] = {
#define OCTANT_FORTRAN(index, name, function, form, slots, error, kinds) \
    [index] = {#name, function, form, slots, error, kinds},
#include "fortran.inc"
};
enum { procedure_count = sizeof procedures / sizeof *procedures };
static void* addresses[procedure_count];

// --- Handles and constants --------------------------------------------------------

static octant_slot (*convert_functions[128])(int);

static void find_conversions(void) {
    static struct {
        char kind;
        char const* name;
    } const names[] = {{'c', "PMPI_Comm_f2c"},    {'t', "PMPI_Type_f2c"},   {'r', "PMPI_Request_f2c"},
                       {'h', "PMPI_File_f2c"},    {'w', "PMPI_Win_f2c"},    {'o', "PMPI_Op_f2c"},
                       {'m', "PMPI_Message_f2c"}, {'e', "PMPI_Session_f2c"}};
    for (size_t index = 0; index < sizeof names / sizeof *names; ++index) {
        void* const function = octant_own_function(names[index].name);
        __atomic_store((void**)&convert_functions[(unsigned char)names[index].kind], &function, __ATOMIC_RELEASE);
    }
}

// In MPICH, handles of C and Fortran are the same integers, except files.
static bool has_equal_handles(char kind) { return octant_interface.abi == octant_abi_mpich && kind != 'h'; }

static octant_slot convert_handle(char kind, int handle) {
    if (has_equal_handles(kind)) return handle;
    octant_slot (*const convert)(int) = convert_functions[(unsigned char)kind];
    return convert != NULL ? convert(handle) : 0;
}

static void add_address(uintptr_t* addresses_of_constant, char const* variable, size_t offset) {
    char const* const start = dlsym(RTLD_DEFAULT, variable);
    if (start == NULL) return;
    uintptr_t const address = (uintptr_t)(start + offset);
    for (int index = 0; index < 4; ++index) {
        if (addresses_of_constant[index] == 0) addresses_of_constant[index] = address;
        if (addresses_of_constant[index] == address) return;
    }
}

// Constants are variables of the Fortran bindings: common blocks in mpif.h, whose offsets are those of MPICH's mpif.h.
static void find_constants(void) {
    add_address(octant_interface.fortran_in_place, "mpipriv1_", 4);
    add_address(octant_interface.fortran_in_place, "MPIR_F08_MPI_IN_PLACE", 0);
    add_address(octant_interface.fortran_in_place, "mpi_fortran_in_place_", 0);
    add_address(octant_interface.fortran_status_ignore, "mpipriv1_", 8);
    add_address(octant_interface.fortran_status_ignore, "mpipriv2_", 0);
    add_address(octant_interface.fortran_status_ignore, "MPIR_F08_MPI_STATUS_IGNORE_OBJ", 0);
    add_address(octant_interface.fortran_status_ignore, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ", 0);
    add_address(octant_interface.fortran_status_ignore, "mpi_fortran_status_ignore_", 0);
    add_address(octant_interface.fortran_status_ignore, "mpi_fortran_statuses_ignore_", 0);
}

static bool ignores_status(octant_slot status) {
    if (status == 0) return true;
    for (int index = 0; index < 4 && octant_interface.fortran_status_ignore[index] != 0; ++index) {
        if (octant_interface.fortran_status_ignore[index] == (uintptr_t)status) return true;
    }
    return false;
}

// --- The procedure of the library ---------------------------------------------------

// A library with local scope is found through the module that calls it.
static void* find_through_caller(char const* name, void const* caller) {
    Dl_info place;
    struct link_map* object = NULL;
    if (dladdr1(caller, &place, (void**)&object, RTLD_DL_LINKMAP) == 0 || object == NULL) return NULL;
    void* const library = dlopen(object->l_name[0] != '\0' ? object->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return NULL;
    void* const function = dlsym(library, name);
    dlclose(library);
    return function;
}

static void* find_procedure(int index, void const* caller) {
    octant_select_interface();
    char const* const name = procedures[index].name;
    void* function = octant_find_symbol(name);
    if (function == NULL) function = find_through_caller(name, caller);
    if (function == NULL) {
        fprintf(stderr, "octant-profiler: no library has the Fortran procedure %s; run without `octant profile`\n",
                name);
        _Exit(1);
    }
    if (octant_is_supported()) {
        find_conversions();
        find_constants();
    } else {
        octant_first_call();
    }
    __atomic_store_n(&addresses[index], function, __ATOMIC_RELEASE);
    return function;
}

#define SLOT octant_slot
typedef octant_slot any_procedure(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT,
                                  SLOT, SLOT);
typedef octant_slot short_procedure(SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT);
#undef SLOT

// Arguments in excess are not read: the caller owns their slots.
static octant_slot pass_on(void* function, int slots, octant_slot const* s) {
    if (slots <= 8) {
        short_procedure* short_one = NULL;
        *(void**)&short_one = function;
        return short_one(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
    }
    any_procedure* any = NULL;
    *(void**)&any = function;
    return any(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15]);
}

// --- Conversion of arguments --------------------------------------------------------

struct context {
    struct procedure const* procedure;
    void* function;
    octant_slot* slots;                            // as Fortran passes them
    octant_slot arguments[octant_max_slots];       // as C passes them
    octant_slot values[octant_max_slots];          // variables that these point to
    octant_slot const* outputs[octant_max_slots];  // slots of Fortran that belong to them
    void* allocated[octant_max_slots];
    int allocations;
    int texts;
    int error;
    octant_slot handles[small_array];
    bool are_handles_used;
    _Alignas(16) char status[octant_status_bytes_max];
    char text[256];
};

static void* allocate(struct context* context, size_t bytes) {
    void* const memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fputs("octant-profiler: out of memory; run without `octant profile`\n", stderr);
        _Exit(1);
    }
    context->allocated[context->allocations++] = memory;
    return memory;
}

static octant_slot* allocate_handles(struct context* context, int count) {
    if (count <= small_array && !context->are_handles_used) {
        context->are_handles_used = true;
        return context->handles;
    }
    return allocate(context, sizeof(octant_slot) * (size_t)count);
}

static int load_int(octant_slot slot) { return *(int const*)slot; }

// Elements of an array of datatypes that the rule of Alltoallw reads; 0: none.
static int count_datatypes(struct context const* context, char const* kinds, int index) {
    bool const is_first = index == 3;
    octant_slot comm = 0;
    int slot = 0;
    for (int at = 0; kinds[2 * at] != '\0'; ++at) {
        if (kinds[2 * at] == 'c') comm = convert_handle('c', load_int(context->slots[slot]));
        if (kinds[2 * at] != '0') ++slot;
    }
    if (strstr(octant_call_names[context->procedure->function % octant_large], "eighbor") != NULL) {
        return is_first ? octant_find_destinations(comm).count : 0;
    }
    return is_first != octant_is_in_place((void const*)context->arguments[0]) ? octant_find_shape(comm).size : 0;
}

static octant_slot convert_array(struct context* context, char const* kinds, int index, int slot) {
    char const kind = kinds[2 * index];
    octant_slot const given = context->slots[slot];
    if (has_equal_handles(kind)) return given;
    int const count = kind == 't' ? count_datatypes(context, kinds, index) : load_int(context->slots[0]);
    if (count <= 0) return given;
    octant_slot* const handles = allocate_handles(context, count);
    for (int element = 0; element < count; ++element)
        handles[element] = convert_handle(kind, ((int const*)given)[element]);
    return (octant_slot)handles;
}

static octant_slot convert_statuses(struct context* context, char const* kinds, int index, int slot) {
    bool const is_ignored = ignores_status(context->slots[slot]);
    if (kinds[2 * index + 1] != 'a') {
        if (!is_ignored) return context->slots[slot];  // the layout is the same
        memset(context->status, 0, sizeof context->status);
        context->slots[slot] = (octant_slot)context->status;
        return context->slots[slot];
    }
    int const count = load_int(context->slots[0]);
    size_t const bytes = (size_t)octant_interface.status_bytes * (size_t)(count > 0 ? count : 0);
    if (is_ignored) context->slots[slot] = (octant_slot)memset(allocate(context, bytes), 0, bytes);
    bool const follows_indices = kinds[2 * index - 2] == 'x';
    if (!follows_indices || context->procedure->form == 'm' || octant_interface.abi != octant_abi_mpich)
        return context->slots[slot];
    return (octant_slot)memset(allocate(context, bytes), 0, bytes);  // see store_indices
}

static octant_slot convert_text(struct context* context, octant_slot text) {
    size_t const hidden = (size_t)(context->procedure->error + 1 + context->texts++);
    size_t length = (size_t)((uintptr_t)context->slots[hidden] & 0x7fffffffu);  // some compilers pass 32 bits
    if (length > sizeof context->text - 1) length = sizeof context->text - 1;
    while (length > 0 && ((char const*)text)[length - 1] == ' ') --length;
    memcpy(context->text, (char const*)text, length);
    context->text[length] = '\0';
    return (octant_slot)context->text;
}

// A variable of C for one that the procedure stores: its value is converted before and after the call.
static octant_slot convert_variable(struct context* context, char kind, char way, int index, int slot) {
    octant_slot const given = context->slots[slot];
    if (strchr("ctrhwmeo", kind) != NULL && has_equal_handles(kind)) return given;
    context->values[index] = way == 'u' ? convert_handle(kind, load_int(given)) : 0;
    if (kind == 'r' && way == 'o') context->values[index] = (octant_slot)octant_interface.request_null;
    context->outputs[index] = &context->slots[slot];
    return (octant_slot)&context->values[index];
}

static octant_slot convert(struct context* context, char const* kinds, int index, int slot) {
    char const kind = kinds[2 * index];
    char const way = kinds[2 * index + 1];
    octant_slot const given = context->slots[slot];
    switch (kind) {
        case 'b':
            return context->procedure->form == 't' && given != 0 ? *(octant_slot const*)given : given;  // base address
        case 'i':
            return load_int(given);
        case 'l':
            return (octant_slot) * (int64_t const*)given;
        case 's':
            return convert_statuses(context, kinds, index, slot);
        case 'z':
            return convert_text(context, given);
        case 'p':
            return given;
        case 'x':
            if (way == 'a') {
                context->outputs[index] = &context->slots[slot];
                return (octant_slot)allocate_handles(context, load_int(context->slots[0]));
            }
            return convert_variable(context, kind, way, index, slot);
        case 'f':
            return convert_variable(context, kind, way, index, slot);
        default:
            if (way == 'a') return convert_array(context, kinds, index, slot);
            if (way == 'i') return convert_handle(kind, load_int(given));
            return convert_variable(context, kind, way, index, slot);
    }
}

static int to_c_index(int index) { return octant_is_undefined(index) ? index : index - 1; }

// mpi_f08 of MPICH 4.0 has an error: it stores indices as C does, and only the first status.
static bool has_c_indices(int const* indices, int count) {
    static bool is_detected;
    for (int element = 0; element < count; ++element) {
        if (indices[element] == 0) is_detected = true;
    }
    return is_detected;
}

static void store_statuses(struct context* context, int index, int count, bool is_first_only) {
    octant_slot const given = context->slots[index];  // Testsome and Waitsome have no argument that Fortran has not
    if (context->arguments[index] == given) return;
    size_t const bytes = (size_t)octant_interface.status_bytes;
    char* const statuses = (char*)context->arguments[index];
    memcpy(statuses, (char const*)given, bytes * (size_t)(is_first_only ? 1 : count));
    for (int element = 1; is_first_only && element < count; ++element) {
        int* const source = (int*)(statuses + bytes * (size_t)element + octant_interface.status_source);
        *source = octant_interface.proc_null;
    }
}

static void store_indices(struct context* context, int index) {
    int const count = load_int(context->arguments[index - 1]);
    int const all = load_int(context->slots[0]);
    int* const indices = (int*)context->arguments[index];
    int const* const given = (int const*)*context->outputs[index];
    if (octant_is_undefined(count) || count < 0 || count > all) return;
    bool const are_c = context->procedure->form != 'm' && has_c_indices(given, count);
    for (int element = 0; element < count; ++element) {
        int const converted = are_c ? given[element] : given[element] - 1;
        indices[element] = converted >= 0 && converted < all ? converted : 0;
    }
    if (count > 0) store_statuses(context, index + 1, count, are_c);
}

static void store_outputs(struct context* context) {
    char const* const kinds = context->procedure->kinds;
    for (int index = 0; kinds[2 * index] != '\0'; ++index) {
        if (context->outputs[index] == NULL) continue;
        char const kind = kinds[2 * index];
        if (kind == 'x' && kinds[2 * index + 1] == 'a') {
            store_indices(context, index);
            continue;
        }
        int const value = load_int(*context->outputs[index]);
        if (kind == 'f' || kind == 'x') {
            int const converted = kind == 'f' ? value != 0 : to_c_index(value);
            memcpy(&context->values[index], &converted, sizeof converted);
        } else {
            context->values[index] = convert_handle(kind, value);
        }
    }
    // The requests that remain: those that completed are MPI_REQUEST_NULL.
    int slot = 0;
    for (int index = 0; kinds[2 * index] != '\0'; ++index) {
        char const kind = kinds[2 * index];
        if (kind == 'r' && kinds[2 * index + 1] == 'a' && context->arguments[index] != context->slots[slot]) {
            int const count = load_int(context->slots[0]);
            octant_slot* const handles = (octant_slot*)context->arguments[index];
            for (int element = 0; element < count; ++element) {
                handles[element] = convert_handle('r', ((int const*)context->slots[slot])[element]);
            }
        }
        if (kind != '0') ++slot;
    }
}

static octant_slot invoke(void* state) {
    struct context* const context = state;
    struct procedure const* const procedure = context->procedure;
    pass_on(context->function, procedure->slots, context->slots);
    int const error = procedure->error >= 0 ? load_int(context->slots[procedure->error]) : 0;
    if (error == 0 && procedure->kinds[0] != '\0') store_outputs(context);
    return error;
}

static octant_slot run(int index, octant_slot* slots, void const* address) {
    struct procedure const* const procedure = &procedures[index];
    void* function = __atomic_load_n(&addresses[index], __ATOMIC_ACQUIRE);
    if (OCTANT_UNLIKELY(function == NULL)) function = find_procedure(index, address);
    if (octant_thread.depth != 0 || !octant_is_supported()) return pass_on(function, procedure->slots, slots);
    struct context context;
    context.procedure = procedure;
    context.function = function;
    context.slots = slots;
    context.allocations = 0;
    context.texts = 0;
    context.error = 0;
    context.are_handles_used = false;
    // ierror is optional in mpi_f08.
    if (procedure->error >= 0 && slots[procedure->error] == 0) slots[procedure->error] = (octant_slot)&context.error;
    char const* const kinds = procedure->kinds;
    int slot = 0;
    for (int argument = 0; kinds[2 * argument] != '\0'; ++argument) {
        context.outputs[argument] = NULL;
        context.arguments[argument] = kinds[2 * argument] != '0' ? convert(&context, kinds, argument, slot++) : 0;
    }
    octant_slot const result = octant_run(procedure->function, address, context.arguments, invoke, &context);
    for (int allocation = 0; allocation < context.allocations; ++allocation) free(context.allocated[allocation]);
    return result;
}

// --- The procedures -----------------------------------------------------------------

#define P(n) octant_slot a##n
#define PARAMETERS_0 void
#define PARAMETERS_1 P(0)
#define PARAMETERS_2 PARAMETERS_1, P(1)
#define PARAMETERS_3 PARAMETERS_2, P(2)
#define PARAMETERS_4 PARAMETERS_3, P(3)
#define PARAMETERS_5 PARAMETERS_4, P(4)
#define PARAMETERS_6 PARAMETERS_5, P(5)
#define PARAMETERS_7 PARAMETERS_6, P(6)
#define PARAMETERS_8 PARAMETERS_7, P(7)
#define PARAMETERS_9 PARAMETERS_8, P(8)
#define PARAMETERS_10 PARAMETERS_9, P(9)
#define PARAMETERS_11 PARAMETERS_10, P(10)
#define PARAMETERS_12 PARAMETERS_11, P(11)
#define PARAMETERS_13 PARAMETERS_12, P(12)
#define PARAMETERS_14 PARAMETERS_13, P(13)
#define PARAMETERS_15 PARAMETERS_14, P(14)
#define PARAMETERS_16 PARAMETERS_15, P(15)
#define VALUES_1 a0
#define VALUES_2 VALUES_1, a1
#define VALUES_3 VALUES_2, a2
#define VALUES_4 VALUES_3, a3
#define VALUES_5 VALUES_4, a4
#define VALUES_6 VALUES_5, a5
#define VALUES_7 VALUES_6, a6
#define VALUES_8 VALUES_7, a7
#define VALUES_9 VALUES_8, a8
#define VALUES_10 VALUES_9, a9
#define VALUES_11 VALUES_10, a10
#define VALUES_12 VALUES_11, a11
#define VALUES_13 VALUES_12, a12
#define VALUES_14 VALUES_13, a13
#define VALUES_15 VALUES_14, a14
#define VALUES_16 VALUES_15, a15

#define OCTANT_FORTRAN(index, name, function, form, slots, error, kinds)         \
    __attribute__((visibility("default"))) octant_slot name(PARAMETERS_##slots); \
    octant_slot name(PARAMETERS_##slots) {                                       \
        octant_slot values[octant_max_slots] = {VALUES_##slots};                 \
        return run(index, values, __builtin_return_address(0));                  \
    }
#include "fortran.inc"
