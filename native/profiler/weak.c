// Programs that use a function of MPI only if the library has it have a weak reference to it (mpi4py). The profiler has
// all functions, so that such a reference is not null; it is set to null again if the library does not have the
// function.
#define _GNU_SOURCE
#include "abi.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if __ELF_NATIVE_CLASS == 64
struct tables {
    ElfW(Rela) const* relocations;
    size_t bytes;
    ElfW(Sym) const* symbols;
    char const* names;
};

static struct tables find_tables(struct link_map const* object) {
    struct tables tables = {NULL, 0, NULL, NULL};
    for (ElfW(Dyn) const* entry = object->l_ld; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
            case DT_RELA:
                tables.relocations = (ElfW(Rela) const*)entry->d_un.d_ptr;
                break;
            case DT_RELASZ:
                tables.bytes = (size_t)entry->d_un.d_val;
                break;
            case DT_SYMTAB:
                tables.symbols = (ElfW(Sym) const*)entry->d_un.d_ptr;
                break;
            case DT_STRTAB:
                tables.names = (char const*)entry->d_un.d_ptr;
                break;
            default:
                break;
        }
    }
    return tables;
}

static bool is_own(void const* function) {
    Dl_info place;
    Dl_info own;
    if (dladdr(function, &place) == 0 || dladdr(&octant_interface, &own) == 0) return false;
    return place.dli_fbase == own.dli_fbase;
}

// The page may have been made read-only after the relocation. It stays writable: which pages were is not known here.
static void set_null(void** reference) {
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    void* const start = (void*)((uintptr_t)reference / page * page);
    if (mprotect(start, page, PROT_READ | PROT_WRITE) == 0) *reference = NULL;
}

static void restore(struct link_map const* object) {
    struct tables const tables = find_tables(object);
    if (tables.relocations == NULL || tables.symbols == NULL || tables.names == NULL) return;
    if ((uintptr_t)tables.relocations < object->l_addr || (uintptr_t)tables.symbols < object->l_addr)
        return;  // the vDSO
    for (size_t index = 0; index < tables.bytes / sizeof *tables.relocations; ++index) {
        ElfW(Rela) const* const relocation = &tables.relocations[index];
        ElfW(Sym) const* const symbol = &tables.symbols[ELF64_R_SYM(relocation->r_info)];
        if (ELF64_R_SYM(relocation->r_info) == 0 || symbol->st_shndx != SHN_UNDEF) continue;
        char const* const name = tables.names + symbol->st_name;
        if (ELF64_ST_BIND(symbol->st_info) != STB_WEAK || strncmp(name, "MPI_", 4) != 0) continue;
        void** const reference = (void**)(object->l_addr + relocation->r_offset);
        if (*reference != NULL && is_own(*reference) && octant_find_symbol(name) == NULL) set_null(reference);
    }
}

void octant_restore_weak_references(void) {
    void* const program = dlopen(NULL, RTLD_LAZY);
    for (struct link_map const* object = (struct link_map*)program; object != NULL; object = object->l_next)
        restore(object);
    if (program != NULL) dlclose(program);
}
#else
void octant_restore_weak_references(void) {}
#endif
