/* A plugin for QEMU that counts the instructions a program executes, and says so on standard error.
 *
 * Debian has QEMU with plugins and without their header, so what is used of it is declared here; these
 * functions are the same in every version of the interface. PLUGIN_VERSION is the version to claim. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct translation;

extern int qemu_plugin_version;
int qemu_plugin_version = PLUGIN_VERSION;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id, struct translation *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct translation *block, void (*executed)(unsigned, void *),
                                          int flags, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct translation *block);

static uint64_t count;

static void executed(unsigned cpu, void *instructions)
{
    (void)cpu;
    count += (uintptr_t)instructions;
}

static void translated(plugin_id id, struct translation *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    fprintf(stderr, "instructions %llu\n", (unsigned long long)count);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
