// Selection of the binary interface, entry points of the MPI library, sizes of datatypes, and statuses.
#define _GNU_SOURCE
#include "abi.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Before the selection no handle is equal to any of these constants.
struct octant_interface octant_interface = {.handle_mask = UINTPTR_MAX,
                                            .handle_bytes = sizeof(uintptr_t),
                                            .status_bytes = octant_status_bytes_max,
                                            .world = UINTPTR_MAX};
char const* const octant_call_names[octant_large] = {
#define OCTANT_CALL(number, name, arguments, timed) [number] = "MPI_" #name,
#include "calls.inc"
};
void* octant_functions[octant_max_calls];
struct octant_type_size octant_type_table[octant_type_sizes];

int octant_splits_waits;
static pthread_once_t selected = PTHREAD_ONCE_INIT;
static void* library;  // handle for dlsym; null: symbols of the libraries that are loaded after the profiler

// mpi4py loads its library with local scope: its symbols are visible only from the library itself and from the
// libraries that need it. Objects are listed in the order of loading, therefore those that need it come first.
static void* find_local_library(void) {
    void* const program = dlopen(NULL, RTLD_LAZY);
    if (program == NULL) return NULL;
    void* found = NULL;
    for (struct link_map const* object = (struct link_map*)program; object != NULL && found == NULL;
         object = object->l_next) {
        if (object->l_name[0] == '\0') continue;
        void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == NULL) continue;
        if (dlsym(handle, "PMPI_Init") != NULL) {
            found = handle;
        } else {
            dlclose(handle);
        }
    }
    dlclose(program);
    return found;
}

void* octant_find_symbol(char const* name) {
    void* const next = dlsym(RTLD_NEXT, name);
    if (next != NULL || library == NULL) return next;
    return dlsym(library, name);
}

static char const* find_soname(struct link_map const* object) {
    char const* strings = NULL;
    size_t offset = SIZE_MAX;
    for (ElfW(Dyn) const* entry = object->l_ld; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB) strings = (char const*)entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME) offset = (size_t)entry->d_un.d_val;
    }
    return strings != NULL && offset != SIZE_MAX ? strings + offset : "";
}

static bool is_standard_library(void* function) {
    Dl_info place;
    struct link_map* object = NULL;
    if (dladdr1(function, &place, (void**)&object, RTLD_DL_LINKMAP) == 0 || object == NULL) return false;
    char const* const slash = strrchr(object->l_name, '/');
    return strstr(find_soname(object), "mpi_abi") != NULL || strstr(slash ? slash : object->l_name, "mpi_abi") != NULL;
}

static enum octant_abi recognise_version(void) {
    int (*get_version)(char*, int*) = NULL;
    *(void**)&get_version = octant_own_function("PMPI_Get_library_version");
    if (get_version == NULL) return octant_abi_unknown;
    char* const text = calloc(1, 1 << 16);
    if (text == NULL) return octant_abi_unknown;
    int length = 0;
    enum octant_abi abi = octant_abi_unknown;
    if (get_version(text, &length) == 0) {
        if (strstr(text, "Open MPI") != NULL || strstr(text, "Spectrum MPI") != NULL) {
            abi = octant_abi_openmpi;
        } else if (strstr(text, "MPICH") != NULL || strstr(text, "Intel(R) MPI") != NULL ||
                   strstr(text, "MVAPICH") != NULL) {
            abi = octant_abi_mpich;
        }
    }
    free(text);
    return abi;
}

// One library has several interfaces in separate files (MPICH 5: libmpi_abi.so.1 and libmpi.so.12), so that the file
// from which the functions of the program come decides, not the name of the implementation.
static enum octant_abi recognise_interface(void) {
    void* const function = octant_own_function("PMPI_Init");
    if (function == NULL) return octant_abi_unknown;
    if (is_standard_library(function)) return octant_abi_standard;
    if (octant_find_symbol("ompi_mpi_comm_world") != NULL) return octant_abi_openmpi;
    return recognise_version();
}

static void use_standard(void) {
    octant_interface = (struct octant_interface){
        .abi = octant_abi_standard,
        .handle_mask = UINTPTR_MAX,
        .handle_bytes = 8,
        .status_bytes = 32,
        .status_source = 0,
        .proc_null = -3,
        .any_source = -1,
        .root = -4,
        .undefined = -32766,
        .world = 0x101,
        .self = 0x102,
        .comm_null = 0x100,
        .request_null = 0x180,
        .byte = 0x247,
        .datatype_null = 0x200,
        .win_null = 0x110,
        .file_null = 0x118,
        .in_place = 1,
        .status_ignore = 0,
        .statuses_ignore = 0,
    };
}

static void use_mpich(void) {
    octant_interface = (struct octant_interface){
        .abi = octant_abi_mpich,
        .handle_mask = UINT32_MAX,
        .handle_bytes = 4,
        .status_bytes = 20,
        .status_source = 8,
        .proc_null = -1,
        .any_source = -2,
        .root = -3,
        .undefined = -32766,
        .world = 0x44000000,
        .self = 0x44000001,
        .comm_null = 0x04000000,
        .request_null = 0x2c000000,
        .byte = 0x4c00010d,
        .datatype_null = 0x0c000000,
        .win_null = 0x20000000,
        .file_null = 0,
        .in_place = UINTPTR_MAX,
        .status_ignore = 1,
        .statuses_ignore = 1,
    };
}

// Its handles are addresses of variables. A program that is not position-independent has copies of them, which all
// libraries use: the first definition in the order of loading counts. 0: there is none.
static uintptr_t find_variable(char const* name) {
    void* const first = dlsym(RTLD_DEFAULT, name);
    return (uintptr_t)(first != NULL ? first : octant_find_symbol(name));
}

static void use_openmpi(void) {
    struct octant_interface const found = {
        .abi = octant_abi_openmpi,
        .handle_mask = UINTPTR_MAX,
        .handle_bytes = 8,
        .status_bytes = 24,
        .status_source = 0,
        .proc_null = -2,
        .any_source = -1,
        .root = -4,
        .undefined = -32766,
        .world = find_variable("ompi_mpi_comm_world"),
        .self = find_variable("ompi_mpi_comm_self"),
        .comm_null = find_variable("ompi_mpi_comm_null"),
        .request_null = find_variable("ompi_request_null"),
        .byte = find_variable("ompi_mpi_byte"),
        .datatype_null = find_variable("ompi_mpi_datatype_null"),
        .win_null = find_variable("ompi_mpi_win_null"),
        .file_null = find_variable("ompi_mpi_file_null"),
        .in_place = 1,
        .status_ignore = 0,
        .statuses_ignore = 0,
    };
    uintptr_t const handles[] = {found.world, found.self,          found.comm_null, found.request_null,
                                 found.byte,  found.datatype_null, found.win_null,  found.file_null};
    for (size_t index = 0; index < sizeof handles / sizeof *handles; ++index) {
        if (handles[index] == 0) return;  // not supported
    }
    octant_interface = found;
}

// The search through all libraries is repeated more and more rarely.
bool octant_has_library(void) {
    static unsigned searches;
    if (dlsym(RTLD_NEXT, "PMPI_Init") != NULL) return true;
    unsigned const search = __atomic_fetch_add(&searches, 1, __ATOMIC_RELAXED);
    if ((search & (search - 1)) != 0) return false;
    void* const found = find_local_library();
    if (found != NULL) dlclose(found);
    return found != NULL;
}

static void select_interface(void) {
    if (dlsym(RTLD_NEXT, "PMPI_Init") == NULL) library = find_local_library();
    switch (recognise_interface()) {
        case octant_abi_standard:
            use_standard();
            break;
        case octant_abi_mpich:
            use_mpich();
            break;
        case octant_abi_openmpi:
            use_openmpi();
            break;
        case octant_abi_unknown:
            break;  // nothing is recorded
    }
    char const* const folder = getenv("OCTANT_PROFILE");
    char const* const mode = getenv("OCTANT_PROFILE_MODE");
    octant_splits_waits = octant_is_supported() && folder != NULL && mode != NULL && strcmp(mode, "waits") == 0;
    // Libraries of MPI 5.0 have all functions.
    if (octant_own_function("PMPI_Abi_get_version") == NULL) octant_restore_weak_references();
}

void octant_select_interface(void) { pthread_once(&selected, select_interface); }

void* octant_own_function(char const* name) { return octant_find_symbol(name); }

void* octant_find_function(int number) {
    octant_select_interface();
    char profiling[128];
    char const* const name = profiling + 1;
    snprintf(profiling, sizeof profiling, "P%s%s", octant_call_names[number % octant_large],
             number >= octant_large ? "_c" : "");
    void* function = octant_find_symbol(name);
    if (function == NULL) function = octant_find_symbol(profiling);  // a library with profiling names only
    if (function == NULL) {
        fprintf(stderr, "octant-profiler: the MPI library has no function %s; use a newer version of the library\n",
                name);
        _Exit(1);
    }
    __atomic_store_n(&octant_functions[number], function, __ATOMIC_RELEASE);
    return function;
}

static uint64_t read_type_bytes(uintptr_t datatype) {
    static int (*large)(octant_slot, int64_t*);
    static int (*small)(octant_slot, int*);
    static int is_known;
    if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        void* function = octant_own_function("PMPI_Type_size_c");
        if (function == NULL) function = octant_own_function("PMPI_Type_size_x");
        *(void**)&large = function;
        *(void**)&small = octant_own_function("PMPI_Type_size");
        __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
    }
    int64_t bytes = 0;
    if (large != NULL) return large((octant_slot)datatype, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
    int few = 0;
    return small != NULL && small((octant_slot)datatype, &few) == 0 && few > 0 ? (uint64_t)few : 0;
}

uint64_t octant_find_type_bytes(uintptr_t datatype) {
    if (datatype == octant_interface.datatype_null || datatype == 0) return 0;
    uint64_t const bytes = read_type_bytes(datatype);
    // Readers take the size only if the handle is the same before and after.
    struct octant_type_size* const entry = &octant_type_table[octant_hash(datatype, 9)];
    __atomic_store_n(&entry->datatype, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&entry->bytes, bytes, __ATOMIC_SEQ_CST);
    __atomic_store_n(&entry->datatype, datatype, __ATOMIC_SEQ_CST);
    return bytes;
}

void octant_type_freed(octant_slot datatype) {
    uintptr_t key = (uintptr_t)datatype & octant_interface.handle_mask;
    struct octant_type_size* const entry = &octant_type_table[octant_hash(key, 9)];
    __atomic_compare_exchange_n(&entry->datatype, &key, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

bool octant_is_fortran_in_place(void const* buffer) {
    for (size_t index = 0; index < sizeof octant_interface.fortran_in_place / sizeof(uintptr_t); ++index) {
        uintptr_t const address = octant_interface.fortran_in_place[index];
        if (address == 0) return false;
        if (address == (uintptr_t)buffer) return true;
    }
    return false;
}

// Cancelled requests are known: not all libraries initialise that part of a status of a file. PMPI_Get_count_c and
// PMPI_Get_elements_x have the same arguments, and the same result for MPI_BYTE.
uint64_t octant_received_bytes(void const* status) {
    static int (*large)(void const*, octant_slot, int64_t*);
    static int (*small)(void const*, octant_slot, int*);
    static int is_known;
    if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        void* function = octant_own_function("PMPI_Get_count_c");
        if (function == NULL) function = octant_own_function("PMPI_Get_elements_x");
        *(void**)&large = function;
        *(void**)&small = octant_own_function("PMPI_Get_count");
        __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
    }
    octant_slot const byte = (octant_slot)octant_interface.byte;
    int64_t bytes = 0;
    if (large != NULL) return large(status, byte, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
    int few = 0;
    return small != NULL && small(status, byte, &few) == 0 && few > 0 ? (uint64_t)few : 0;
}
