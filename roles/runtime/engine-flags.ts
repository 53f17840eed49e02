/**
 * The flags of the JavaScript engine for each role, measured by `skerry bench main`. `up` and the launcher, and so
 * the systemd units, start roles with them.
 *
 * - `--max-semi-space-size`: a small young generation is collected often and keeps the heap near what is alive: 25 MB
 *   less in a node after a burst. Hub and site have a larger one, because a small one lets the answers to many clients
 *   grow old (a fifth of the time of 64 writers went to the collector); they return it when they are calm. An agent
 *   has a middle one: with the smallest, a quarter of its time went to the collector under many requests. The answers of
 *   an etcd die young, so that a small one costs it nothing and saves 17 MB.
 * - `--lite-mode`: compiles nothing to machine code. It saves 20 MB, half of it pages of compilers, in a node agent,
 *   which mostly waits. Hub and site keep their compilers: their goals are met with them, and requests need CPU time.
 * - `--no-opt`, `--no-maglev`, `--no-sparkplug`: an agent begins without compilers, which saves 14 MB, and has them
 *   once it is busy (compile-when-busy.ts).
 * - `--expose-gc`: for return-memory.ts, which saves 50 MB in a site after 5,000 pods were created, and for
 *   young-buffers.ts.
 * - `--no-parallel-scavenge`: hub and agent collect the young generation in one thread. There is so little to collect
 *   that waiting for helper threads took longer than the work, on two busy processors.
 * - `--initial-old-space-size`: gives hub and agent room in the old generation, which counts buffers, too. With a heap
 *   of 11 MB after a first collection, 8 MB of buffers in flight started the next: under bulk one collection followed
 *   the other, for half of the CPU time.
 * - `--no-memory-pool`: an agent returns pages of its heap as soon as they are empty. Pooling them cost 3 MB in an
 *   agent that has a little to do every ten seconds.
 * - `--heap-growing-percent`: the heap of a site may grow by 40 % before it is collected. Left to itself, the engine let
 *   it grow from 80 to 320 MB while one large apply was in progress. It costs 3 % of the CPU time of 64 writers.
 */
export const engineFlags: Readonly<Record<string, readonly string[]>> = Object.freeze({
  hub: [
    '--expose-gc',
    '--max-semi-space-size=8',
    '--initial-old-space-size=96',
    '--no-parallel-scavenge',
  ],
  site: ['--expose-gc', '--max-semi-space-size=16', '--heap-growing-percent=40'],
  node: ['--expose-gc', '--max-semi-space-size=1', '--lite-mode'],
  etcd: ['--expose-gc', '--max-semi-space-size=2'],
  agent: [
    '--expose-gc',
    '--max-semi-space-size=4',
    '--initial-old-space-size=48',
    '--no-parallel-scavenge',
    '--no-memory-pool',
    '--no-opt',
    '--no-maglev',
    '--no-sparkplug',
  ],
})
