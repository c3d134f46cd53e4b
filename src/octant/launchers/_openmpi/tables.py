"""The options of mpirun of Open MPI 5.0.11 and 4.1.4, and the parameters that variables set, by their effect.

Sources: the tables of `schizo/ompi` and of PRRTE's parser, `mpirun --help full` of 4.1, `prte_info --all`, `ompi_info
--all`; "no effect" was seen in dry runs on pretended machines (`tests/support/record_openmpi.py`).
"""

from octant.launchers import _words
from octant.launchers._openmpi import orte_policy, prrte_policy
from octant.launchers._tables import OPTIONAL, OptionFacts, assigning, interpreted, irrelevant, not_read, refused, table

_OUTPUT = "it concerns what is printed, and where"
_FILES = "it concerns folders and files"
_ENVIRONMENT = "it concerns the environment of the ranks"
_TIME = "it concerns time limits and signals"
_DEBUG = "it concerns debugging"
_RECOVERY = "it concerns what happens after a failure"
_HOSTS = "it sets hosts and slots; one node with one slot per core is assumed"
_DAEMONS = "it concerns the start of daemons on other nodes"
_FILE_OF_PARAMETERS = "its file may set parameters that change the placement"
_COMMON = table(
    irrelevant(_OUTPUT, "display-allocation display-devel-map display-map merge-stderr-to-stdout report-bindings "
               "report-child-jobs-separately show-progress tag-output timestamp-output xml"),
    irrelevant(_OUTPUT, "output-filename report-pid report-uri xterm", 1),
    irrelevant(_FILES, "noprefix"),
    irrelevant(_FILES, "path prefix preload-files wd wdir", 1),
    irrelevant(_TIME, "get-stack-traces report-state-on-timeout"),
    irrelevant(_TIME, "stdin timeout", 1),
    irrelevant(_DEBUG, "debug debug-daemons debug-daemons-file leave-session-attached"),
    irrelevant(_RECOVERY, "continuous disable-recovery enable-recovery"),
    irrelevant(_RECOVERY, "max-restarts", 1),
    irrelevant(_DAEMONS, "allow-run-as-root"),
    irrelevant(_DAEMONS, "launch-agent", 1),
    irrelevant(_HOSTS, "default-hostfile hostfile|machinefile", 1),
    irrelevant("it limits the number of nodes, and the placement on one node is shown", "max-vm-size", 1),
    not_read(_FILE_OF_PARAMETERS, "am tune", 1),
    refused(_words.PROGRAMS_IN_A_FILE, "app"),
    refused("it starts no program", "do-not-launch"),
    refused(_words.NO_PROGRAM, "V h help version"),
    assigning("x", 1, ranks_only=True),
    interpreted("nolocal nooversubscribe oversubscribe use-hwthread-cpus bycore bynode byslot pernode bind-to-core"),
    interpreted("N npernode npersocket ppr cpu-list cpu-set cpus-per-proc cpus-per-rank n|np|c", 1),
    {"": OptionFacts("", "interpreted")},
)  # fmt: skip
OPTIONS5 = table(
    _COMMON,
    interpreted("map-by|mapby bind-to|bindto rank-by|rankby rankfile host", 1),
    irrelevant("it concerns the start and end of the program", "rtos|runtime-options", 1),
    irrelevant(_OUTPUT, "display-comm display-comm-finalize no-aggregate-help parseable|parsable verbose"),
    irrelevant(_OUTPUT, "display display-topo output output-directory stream-buffering", 1),
    irrelevant(_OUTPUT, "output-proctable", OPTIONAL),
    irrelevant(_FILES, "no-app-prefix preload-binary"),
    irrelevant(_FILES, "app-pmix-prefix tmpdir", 1),
    irrelevant(_ENVIRONMENT, "append-env prepend-env", 2),
    irrelevant(_ENVIRONMENT, "unset-env", 1),
    irrelevant(_ENVIRONMENT, "fwd-environment", OPTIONAL),
    irrelevant(_TIME, "forward-signals spawn-timeout", 1),
    irrelevant(_DEBUG, "stop-in-app stop-in-init stop-on-exec"),
    irrelevant(_RECOVERY, "initial-errhandler with-ft", 1),
    irrelevant("it is accepted and has no effect on placement", "soft hetero-nodes"),
    irrelevant("it is accepted and has no effect on placement", "arch file gpu-support memory-alloc-kinds pset", 1),
    not_read("the placement rules of another system may apply", "dvm personality", 1),
    assigning("mca omca gmca gomca", 2, "OMPI_MCA_"),
    assigning("prtemca", 2, "PRTE_MCA_"),
    assigning("pmixmca", 2, "PMIX_MCA_"),
)  # fmt: skip
OMPI_ONLY = frozenset({
    "am", "arch", "continuous", "debug-daemons-file", "disable-recovery", "display-comm", "display-comm-finalize",
    "display-topo", "enable-recovery", "file", "gmca", "gomca", "initial-errhandler", "max-restarts", "omca",
    "parsable", "parseable", "show-progress", "soft", "stream-buffering", "with-ft",
})  # fmt: skip
"""Options of mpiexec that prterun of PRRTE 3.0.14 does not have, or reads differently."""
_NETWORK = "it concerns daemons, messages between them, or what is printed"
VARIABLES5 = table(
    interpreted(" ".join(f"PRTE_MCA_{name}" for name in prrte_policy.PARAMETERS)),
    interpreted(" ".join(f"PRTE_MCA_prte_{name}" for name in prrte_policy.PARAMETERS
                         if not name.startswith("prte_"))),
    not_read("it may change the placement in a way that is not supported",
             " ".join(f"PRTE_MCA_{name}" for name in prrte_policy.DECIDING)),
    interpreted("OMPI_MCA_rmaps_* OMPI_MCA_hwloc_* OMPI_MCA_orte_set_default_slots*"),
    irrelevant("it has no effect on placement in Open MPI 5", "OMPI_MCA_* OMPI_ALLOW_RUN_AS_ROOT*"),
    irrelevant("it has no effect on placement", "PRTE_MCA_rmaps_default_inherit PRTE_MCA_rmaps_base_* "
               "PRTE_MCA_hwloc_base_* PRTE_MCA_ras_base_multiplier PRTE_MCA_*verbose"),
    irrelevant(_NETWORK, " ".join(
        f"PRTE_MCA_{name}*" for name in (
            "mca_", "display", "pmix_", "rml_", "routed_", "errmgr", "ess_", "filem", "grpcomm", "iof_", "odls_",
            "oob", "plm", "prtebacktrace", "prtedl", "prtereachable", "schizo_", "state", "prte_keep_fqdn",
            "prte_strip_prefix", "prte_if_", "prte_signal", "prte_stacktrace", "prte_silence", "prte_tmpdir",
            "prte_local_tmpdir", "prte_remote_tmpdir", "prte_no_session", "prte_fwd", "prte_execute", "prte_report",
            "prte_progress", "prte_show_resolved", "prte_do_not_resolve", "prte_launch_agent", "prte_allowed_exit",
            "prte_stat_", "prte_daemon_", "prte_timeout", "prte_pmix_", "prte_ssh", "prte_assume", "prte_net",
            "prte_max_vm_size", "prte_set_max_sys_limits", "prte_bind_progress", "prte_ess_", "prte_hetero_nodes",
        )
    )),
    not_read("it may change the placement in a way that is not supported", "PRTE_MCA_*"),
    not_read("PMIx would use another topology", "PMIX_MCA_pmix_hwloc_* PMIX_MCA_hwloc_*"),
    irrelevant("it has no effect on placement", "PMIX_MCA_*"),
)  # fmt: skip
OPTIONS41 = table(
    _COMMON,
    interpreted("bind-to-socket"),
    interpreted("map-by bind-to rank-by host|H", 1),
    irrelevant(_OUTPUT, "display-devel-allocation display-diffable-map display-topo index-argv-by-rank "
               "output-proctable q|quiet v|verbose"),
    irrelevant(_OUTPUT, "report-events xml-file", 1),
    irrelevant(_FILES, "preload-binary|s set-cwd-to-session-dir"),
    irrelevant(_DEBUG, "d|debug-devel tv"),
    irrelevant(_DEBUG, "debugger", 1),
    irrelevant(_DAEMONS, "do-not-resolve enable-instant-on-support fwd-mpirun-port use-regexp"),
    irrelevant(_DAEMONS, "hnp ompi-server", 1),
    not_read("the placement rules of another system may apply", "dvm novm"),
    not_read("the placement rules of another system may apply", "personality", 1),
    not_read("rank files of Open MPI 4.1 are not supported", "rankfile|rf", 1),
    not_read("it reads the machine from a file", "cartofile|cf", 1),
    assigning("mca gmca", 2, "OMPI_MCA_"),
)  # fmt: skip
VARIABLES41 = table(
    interpreted(" ".join(f"OMPI_MCA_{name}" for name in orte_policy.PARAMETERS)),
    not_read("it may change the placement in a way that is not supported",
             " ".join(f"OMPI_MCA_{name}" for name in orte_policy.DECIDING)),
    irrelevant("it concerns output, or is a default for programs that ranks start",
               "OMPI_MCA_rmaps_base_display_* OMPI_MCA_rmaps_base_inherit OMPI_MCA_hwloc_base_report_bindings "
               "OMPI_MCA_rmaps_base_verbose OMPI_MCA_hwloc_base_verbose OMPI_MCA_rmaps_default_* "
               "OMPI_MCA_hwloc_base_mem_*"),
    not_read("it may change the placement in a way that is not supported",
             "OMPI_MCA_rmaps_* OMPI_MCA_hwloc_* OMPI_MCA_ras_* OMPI_MCA_rtc_*"),
    irrelevant("a parameter of the library does not move ranks", "OMPI_MCA_* OMPI_ALLOW_RUN_AS_ROOT*"),
    irrelevant("Open MPI 4.1 has no PRRTE", "PRTE_MCA_* PMIX_MCA_*"),
)  # fmt: skip
