"""The options and variables of srun, and what each means for placement.

From `srun --help`, the manual page and the option table of Slurm 22.05.8. Options of later versions are listed with
their version; which of them also exist in 22.05 was compared with its source. Options of sbatch are accepted in #SBATCH
lines only.
"""

from octant.launchers import _tables, _words

NODES = "it selects nodes, and the placement on one node is shown"
TIME = "it concerns time, priority or the end of the job"
OUTPUT = "it concerns input, output or messages"
NAMES = "it concerns names, accounts, licenses and statistics"
MEMORY = "it is an amount of memory or disk space, and exclusive nodes are assumed"
START = "it concerns the start of the program, not its placement"
SHARED = "it lets other steps or jobs use the same CPUs"
GPU = "it selects GPUs"
COUNT_BY_GPU = "the number of tasks or CPUs depends on the number of GPUs"
RESERVED = "it reserves cores of the job for the system"
SEVERAL = "it starts several programs"
GPU_OPTIONS = (
    "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gpu-bind", "gres", "gres-flags", "accel-bind",
    "tres-bind",
)  # fmt: skip
"""Options that make a step take the cores next to its GPUs where it does not have all cores."""

OPTIONS = _tables.table(
    _tables.interpreted(
        "ntasks|n nodes|N cpus-per-task|c cpu-bind|cpu_bind distribution|m hint threads-per-core ntasks-per-core "
        "ntasks-per-socket ntasks-per-node|tasks-per-node extra-node-info|B sockets-per-node cores-per-socket mem-bind "
        "nodelist|w",
        1,
    ),
    _tables.interpreted("exact overcommit|O whole"),
    _tables.interpreted("exclusive overlap", _tables.OPTIONAL),
    _tables.irrelevant(SHARED, "oversubscribe|s"),
    _tables.irrelevant(
        NODES,
        "cluster cluster-constraint clusters|M constraint|C exclude|x partition|p prefer relative|r reservation "
        "switches mincpus",
        1,
    ),
    _tables.irrelevant(NODES, "contiguous spread-job use-min-nodes"),
    _tables.irrelevant(f"{NODES} (Slurm 24.05)", "segment", 1),
    _tables.irrelevant(f"{NODES} (Slurm 25.05)", "consolidate-segments spread-segments"),
    _tables.irrelevant(
        TIME, "begin|b deadline delay-boot dependency|d priority signal time|t time-min wait|W msg-timeout", 1
    ),
    _tables.irrelevant(TIME, "hold|H quit-on-interrupt disable-status|X reboot"),
    _tables.irrelevant(TIME, "immediate|I kill-on-bad-exit|K nice no-kill|k", _tables.OPTIONAL),
    _tables.irrelevant(f"{TIME} (Slurm 24.05)", "wait-for-children"),
    _tables.irrelevant(f"{TIME} (Slurm 24.11)", "oom-kill-step", _tables.OPTIONAL),
    _tables.irrelevant(OUTPUT, "error|e input|i output|o open-mode slurmd-debug", 1),
    _tables.irrelevant(OUTPUT, "label|l pty quiet|Q unbuffered|u verbose|v"),
    _tables.irrelevant(
        NAMES,
        "account|A acctg-freq comment context gid job-name|J jobid licenses|L mail-type mail-user mcs-label profile "
        "qos|q uid wckey",
        1,
    ),
    _tables.irrelevant(f"{NAMES} (Slurm 22.05)", "extra", 1),
    _tables.irrelevant(MEMORY, "mem mem-per-cpu mem-per-gpu tmp bb bbf", 1),
    _tables.irrelevant(
        START,
        "bcast-exclude chdir|D container cpu-freq epilog export gpu-freq mpi network power prolog task-epilog "
        "task-prolog threads|T",
        1,
    ),
    _tables.irrelevant(START, "debugger-test"),
    _tables.irrelevant(START, "bcast compress propagate resv-ports send-libs x11", _tables.OPTIONAL),
    _tables.irrelevant(f"{START} (Slurm 23.02)", "container-id", 1),
    _tables.irrelevant(f"{START} (Slurm 23.11)", "treewidth", 1),
    _tables.irrelevant(f"{START} (Slurm 24.05)", "stepmgr"),
    _tables.irrelevant(GPU, " ".join(name for name in GPU_OPTIONS if name not in ("gpus", "tres-bind")), 1),
    _tables.irrelevant(GPU, "gpus|G", 1),
    _tables.irrelevant(f"{GPU} (Slurm 23.02)", "tres-bind", 1),
    _tables.not_read(COUNT_BY_GPU, "cpus-per-gpu ntasks-per-gpu ntasks-per-tres", 1),
    _tables.not_read("it may set the CPUs of a task (Slurm 23.11)", "tres-per-task", 1),
    _tables.not_read(RESERVED, "core-spec|S thread-spec", 1),
    _tables.not_read("environment variables then take precedence over options", "preserve-env|E"),
    _tables.not_read("the step then has no allocation", "no-allocate|Z interactive"),
    _tables.not_read("an external launcher then binds the ranks (Slurm 23.11)", "external-launcher"),
    _tables.not_read("the number of nodes depends on the file", "nodefile|F", 1),
    _tables.refused(_words.NO_PROGRAM, "help|h usage version|V"),
    _tables.refused("it starts no program", "test-only"),
    _tables.refused(_words.PROGRAMS_IN_A_FILE, "multi-prog"),
    _tables.refused(SEVERAL, "het-group|pack-group", 1),
)
"""Options of srun; `salloc` and `sbatch` have the same ones in so far as they concern placement."""

_BATCH = _tables.table(
    _tables.irrelevant(START, "array|a batch export-file wrap", 1),
    _tables.irrelevant(START, "get-user-env", _tables.OPTIONAL),
    _tables.irrelevant(START, "ignore-pbs parsable requeue no-requeue spread-job-batch"),
    _tables.irrelevant(TIME, "kill-on-invalid-dep", 1),
)
_OF_STEPS = _tables.table(
    _tables.not_read("a step may not inherit it; give it to srun", "cpu-bind|cpu_bind", 1),
    _tables.not_read("it is an option of srun", "exact whole"),
    _tables.not_read("it is an option of srun", "overlap", _tables.OPTIONAL),
    _tables.irrelevant(NODES, "sockets-per-node cores-per-socket", 1),
)
"""Options that steps read and that do the same for no step of a batch job."""
BATCH_OPTIONS = {
    **{name: option for name, option in OPTIONS.items() if option.name not in ("label", "wait", "slurmd-debug")},
    **_BATCH,
    **_OF_STEPS,
    **_tables.irrelevant(TIME, "wait|W"),
}  # fmt: skip
"""Options in #SBATCH lines."""

VARIABLES = _tables.table(
    _tables.interpreted(
        "SLURM_NTASKS SLURM_NPROCS SLURM_JOB_NUM_NODES SLURM_NTASKS_PER_NODE SRUN_CPUS_PER_TASK SLURM_CPUS_PER_TASK "
        "SLURM_CPU_BIND SLURM_DISTRIBUTION SLURM_DIST_PLANESIZE SLURM_HINT SLURM_THREADS_PER_CORE SLURM_MEM_BIND "
        "SLURM_EXACT SLURM_EXCLUSIVE SLURM_OVERCOMMIT SLURM_NSOCKETS_PER_NODE SLURM_NCORES_PER_SOCKET"
    ),
    _tables.irrelevant(SHARED, "SLURM_OVERLAP"),
    _tables.irrelevant(
        NODES,
        "SLURM_CLUSTERS SLURM_CLUSTER_CONSTRAINT SLURM_CONSTRAINT SLURM_JOB_NODELIST SLURM_NODELIST SLURM_PARTITION "
        "SLURM_RESERVATION SLURM_REQ_SWITCH SLURM_WAIT4SWITCH SLURM_SPREAD_JOB SLURM_USE_MIN_NODES",
    ),
    _tables.irrelevant(
        TIME,
        "SLURM_DELAY_BOOT SLURM_DEPENDENCY SLURM_DISABLE_STATUS SLURM_KILL_BAD_EXIT SLURM_NO_KILL SLURM_SIGNAL "
        "SLURM_TIMELIMIT SLURM_WAIT SLURM_EXIT_ERROR SLURM_EXIT_IMMEDIATE",
    ),
    _tables.irrelevant(
        OUTPUT,
        "SLURM_LABELIO SLURM_OPEN_MODE SLURM_STDERRMODE SLURM_STDINMODE SLURM_STDOUTMODE SLURM_UNBUFFEREDIO "
        "SLURM_DEBUG SLURMD_DEBUG",
    ),
    _tables.irrelevant(
        NAMES, "SLURM_ACCOUNT SLURM_ACCTG_FREQ SLURM_JOB_NAME SLURM_PROFILE SLURM_QOS SLURM_WCKEY SLURM_JOB_ID"
    ),
    _tables.irrelevant(MEMORY, "SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE SLURM_BURST_BUFFER"),
    _tables.irrelevant(
        START,
        "SLURM_BCAST SLURM_BCAST_EXCLUDE SLURM_COMPRESS SLURM_CPU_FREQ_REQ SLURM_EPILOG SLURM_PROLOG SLURM_EXPORT_ENV "
        "SRUN_EXPORT_ENV SLURM_GPU_FREQ SLURM_MPI_TYPE SLURM_NETWORK SLURM_POWER SLURM_REMOTE_CWD SLURM_RESV_PORTS "
        "SLURM_SEND_LIBS SLURM_TASK_EPILOG SLURM_TASK_PROLOG SLURM_THREADS SLURM_WORKING_DIR SRUN_CONTAINER SLURM_CONF",
    ),
    _tables.irrelevant(
        GPU,
        "SLURM_GPUS SLURM_GPU_BIND SLURM_GPUS_PER_NODE SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GRES "
        "SLURM_GRES_FLAGS SLURM_STEP_GRES",
    ),
    _tables.irrelevant(
        "Slurm sets it, and srun does not read it",
        "SLURM_NNODES SLURM_TASKS_PER_NODE SLURM_JOB_CPUS_PER_NODE SLURM_CPUS_ON_NODE SLURM_PROCID SLURM_LOCALID "
        "SLURM_NODEID SLURM_CPU_BIND_TYPE SLURM_CPU_BIND_LIST SLURM_CPU_BIND_VERBOSE SLURM_SUBMIT_DIR "
        "SLURM_SUBMIT_HOST SLURM_JOBID SLURM_STEP_ID SLURM_STEPID SLURM_ARRAY_TASK_ID SLURM_ARRAY_JOB_ID "
        "SLURM_TOPOLOGY_ADDR SLURM_NTASKS_PER_CORE SLURM_NTASKS_PER_SOCKET",
    ),
    _tables.not_read(COUNT_BY_GPU, "SLURM_CPUS_PER_GPU SLURM_NTASKS_PER_GPU SLURM_NTASKS_PER_TRES"),
    _tables.not_read(RESERVED, "SLURM_CORE_SPEC SLURM_THREAD_SPEC"),
    _tables.not_read("the placement of ranks depends on the file", "SLURM_HOSTFILE"),
    _tables.not_read("the programs are in a file", "SLURM_SRUN_MULTI"),
    _tables.not_read("it may concern placement", "SLURM_* SRUN_* SBATCH_* SALLOC_*"),
)
"""Variables that srun reads, and those that Slurm sets in a job."""
