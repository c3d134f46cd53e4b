// Functions of MPI that the library of the process does not have. mpi4py's packages for Open MPI have weak references to
// functions of newer versions of MPI and use others where they are missing; they must not find those of the profiler.
//
// A module that is linked to MPI is inspected before it is loaded: its MPI library is loaded first, and the symbols of the
// profiler that the library has no function for get the value 0, which the linker takes for undefined.
#define _GNU_SOURCE
#include "calls.h"
#include "profiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void* open_function(char const* file, int mode);

static void hide(void* self, char const* name, size_t page) {
    void* const function = dlvsym(self, name, "OCTANT_1");
    Dl_info info;
    ElfW(Sym)* symbol = NULL;
    if (function == NULL || dladdr1(function, &info, (void**)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return;
    if (info.dli_sname == NULL || strcmp(info.dli_sname, name) != 0) return;
    uintptr_t const begin = (uintptr_t)symbol & ~(uintptr_t)(page - 1);
    uintptr_t const end = ((uintptr_t)(symbol + 1) + page - 1) & ~(uintptr_t)(page - 1);
    if (mprotect((void*)begin, end - begin, PROT_READ | PROT_WRITE) != 0) return;
    symbol->st_value = 0;
    mprotect((void*)begin, end - begin, PROT_READ);
}

static void hide_missing(void* library) {
    static char const* const names[] = {
#define OCTANT_CALL(number, name, arguments, timed) "PMPI_" #name,
#define OCTANT_LARGE(name, arguments) "PMPI_" #name "_c",
#include "calls.inc"
    };
    Dl_info own;
    if (dladdr((void*)names, &own) == 0) return;
    void* const self = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (self == NULL) return;
    size_t const page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t index = 0; index < sizeof names / sizeof *names; ++index) {
        char const* const name = names[index];
        if (dlsym(library, name) == NULL && dlsym(library, name + 1) == NULL) hide(self, name + 1, page);
    }
    dlclose(self);
}

struct image {
    char const* start;
    size_t bytes;
    ElfW(Phdr) const* headers;
    size_t count;
};

// Returns the place of an address in the file; null: the file does not have it.
static char const* find_address(struct image const* image, ElfW(Addr) address) {
    for (size_t index = 0; index < image->count; ++index) {
        ElfW(Phdr) const* const header = &image->headers[index];
        if (header->p_type != PT_LOAD || address < header->p_vaddr || address - header->p_vaddr >= header->p_filesz) continue;
        uint64_t const at = header->p_offset + (address - header->p_vaddr);
        return at < image->bytes ? image->start + at : NULL;
    }
    return NULL;
}

static bool read_headers(struct image* image) {
    ElfW(Ehdr) const* const header = (ElfW(Ehdr) const*)(void const*)image->start;
    unsigned char const class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (image->bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (header->e_ident[EI_CLASS] != class || header->e_phentsize != sizeof *image->headers) return false;
    if (header->e_phoff > image->bytes || header->e_phoff % sizeof(void*) != 0) return false;
    image->count = header->e_phnum;
    if ((image->bytes - header->e_phoff) / sizeof *image->headers < image->count) return false;
    image->headers = (ElfW(Phdr) const*)(void const*)(image->start + header->e_phoff);
    return true;
}

// Loads the MPI library that a module is linked to.
static void* load_library(struct image const* image, open_function* next) {
    for (size_t index = 0; index < image->count; ++index) {
        ElfW(Phdr) const* const header = &image->headers[index];
        if (header->p_type != PT_DYNAMIC || header->p_offset > image->bytes || header->p_offset % sizeof(void*) != 0) continue;
        ElfW(Dyn) const* const entries = (ElfW(Dyn) const*)(void const*)(image->start + header->p_offset);
        size_t const room = image->bytes - header->p_offset;
        size_t const count = (header->p_filesz < room ? header->p_filesz : room) / sizeof *entries;
        char const* strings = NULL;
        for (size_t at = 0; at < count; ++at) {
            if (entries[at].d_tag == DT_STRTAB) strings = find_address(image, entries[at].d_un.d_ptr);
        }
        for (size_t at = 0; strings != NULL && at < count; ++at) {
            size_t const left = image->bytes - (size_t)(strings - image->start);
            if (entries[at].d_tag != DT_NEEDED || entries[at].d_un.d_val >= left) continue;
            char const* const name = strings + entries[at].d_un.d_val;
            if (strnlen(name, left - entries[at].d_un.d_val) == left - entries[at].d_un.d_val) continue;
            if (strncmp(name, "libmpi", 6) == 0) return next(name, RTLD_LAZY | RTLD_LOCAL);
        }
    }
    return NULL;
}

static void inspect(char const* path, open_function* next) {
    static bool is_done;
    if (is_done) return;
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status;
    void* start = MAP_FAILED;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    if (start == MAP_FAILED) return;
    struct image image = {.start = start, .bytes = (size_t)status.st_size};
    void* const library = read_headers(&image) ? load_library(&image, next) : NULL;
    munmap(start, (size_t)status.st_size);
    if (library == NULL) return;
    is_done = true;
    if (dlsym(library, "PMPI_Init") != NULL || dlsym(library, "MPI_Init") != NULL) hide_missing(library);
}

// The call of the next function is a jump: it takes the search path of the object that it returns to.
__attribute__((visibility("default"), optimize("optimize-sibling-calls"))) void* dlopen(char const* file, int mode) {
    static open_function* next;
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "dlopen");
    if (file != NULL && strchr(file, '/') != NULL && getenv("OCTANT_PROFILE") != NULL) {
        int const error = errno;
        inspect(file, next);
        errno = error;
        dlerror();
    }
    return next(file, mode);
}
