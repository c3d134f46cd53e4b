// The executable and the libraries that contain call sites.
#define _GNU_SOURCE
#include "profiler.h"

#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_known(uint64_t address) {
    uint32_t const modules = __atomic_load_n(&octant_profile->modules, __ATOMIC_ACQUIRE);
    for (uint32_t index = 0; index < modules; ++index) {
        if (address >= octant_module_table[index].begin && address < octant_module_table[index].end) return true;
    }
    return false;
}

static void read_build_id(struct dl_phdr_info const* object, ElfW(Phdr) const* segment, char* text, size_t room) {
    char const* note = (char const*)(object->dlpi_addr + segment->p_vaddr);
    char const* const end = note + segment->p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) const* const head = (ElfW(Nhdr) const*)note;
        char const* const name = note + sizeof *head;
        unsigned char const* const id = (unsigned char const*)name + ((head->n_namesz + 3u) & ~3u);
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            for (size_t byte = 0; byte < head->n_descsz && 2 * byte + 1 < room; ++byte) {  // 20 bytes fill the text
                text[2 * byte] = "0123456789abcdef"[id[byte] >> 4];
                text[2 * byte + 1] = "0123456789abcdef"[id[byte] & 15];
            }
            return;
        }
        note = (char const*)id + ((head->n_descsz + 3u) & ~3u);
    }
}

static bool contains(struct dl_phdr_info const* object, uint64_t address) {
    for (int index = 0; index < object->dlpi_phnum; ++index) {
        ElfW(Phdr) const* const segment = &object->dlpi_phdr[index];
        uint64_t const begin = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= begin && address < begin + segment->p_memsz) return true;
    }
    return false;
}

static int add_module(struct dl_phdr_info* object, size_t bytes, void* site) {
    (void)bytes;
    uint64_t const address = *(uint64_t const*)site;
    if (!contains(object, address)) return 0;
    struct octant_module* const module = &octant_module_table[octant_profile->modules];
    memset(module, 0, sizeof *module);
    module->begin = UINT64_MAX;
    module->bias = object->dlpi_addr;
    for (int index = 0; index < object->dlpi_phnum; ++index) {
        ElfW(Phdr) const* const segment = &object->dlpi_phdr[index];
        if (segment->p_type == PT_NOTE) read_build_id(object, segment, module->build_id, sizeof module->build_id);
        if (segment->p_type != PT_LOAD) continue;
        uint64_t const begin = object->dlpi_addr + segment->p_vaddr;
        if (begin < module->begin) module->begin = begin;
        if (begin + segment->p_memsz > module->end) module->end = begin + segment->p_memsz;
    }
    if (object->dlpi_name != NULL && object->dlpi_name[0] != '\0') {
        strncpy(module->path, object->dlpi_name, sizeof module->path - 1);
    } else {
        ssize_t const length = readlink("/proc/self/exe", module->path, sizeof module->path - 1);
        if (length < 0) module->path[0] = '\0';
    }
    __atomic_store_n(&octant_profile->modules, octant_profile->modules + 1, __ATOMIC_RELEASE);
    return 1;
}

void octant_note_module(uint64_t address) {
    if (is_known(address)) return;
    pthread_mutex_lock(&lock);
    if (!is_known(address) && octant_profile->modules < octant_max_modules) dl_iterate_phdr(add_module, &address);
    pthread_mutex_unlock(&lock);
}
