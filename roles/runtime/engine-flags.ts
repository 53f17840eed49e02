/**
 * Flags of the JavaScript engine for each role, measured by `skerry bench main`. `up` and the
 * launcher, and so the systemd units, start roles with them.
 *
 * A small young generation is collected more often and keeps the heap near what is alive: 25 MB less
 * in a node after a burst. Hub and site have a larger one, because a small one lets the answers to
 * many clients grow old (a fifth of the time of 64 writers went to the collector); they give it
 * back when they are calm. An agent has a middle one: with the smallest, a quarter of its time went to
 * the collector under many requests. Lite mode compiles nothing to machine code: 20 MB less, half of it pages
 * of compilers that then are never touched, for a node agent that mostly waits. Hub and site keep
 * their compilers: their goals are met with them, and their requests cost time on the processor. An agent
 * begins without, which is 14 MB less, and has them once it is busy: see compile-when-busy.ts.
 * The collector is exposed for return-memory.ts: 50 MB less in a site after 5,000 pods were made; and for
 * young-buffers.ts. Hub and agent collect what is young in one thread: with so little to collect, waiting for
 * helpers took longer than the work on two busy processors. Both begin with room in the old generation: it counts
 * buffers, too, and with a heap of 11 MB, after a first collection, eight more of buffers on their way started the next:
 * under bulk one followed the other, for half of the processor time. An agent gives pages of its heap back as soon as they
 * are empty: the engine would pool them, which were 3 MB of one that has a little to do every ten seconds.
 */
export const engineFlags: Readonly<Record<string, readonly string[]>> = Object.freeze({
  hub: [
    '--expose-gc',
    '--max-semi-space-size=8',
    '--initial-old-space-size=96',
    '--no-parallel-scavenge',
  ],
  site: ['--expose-gc', '--max-semi-space-size=16'],
  node: ['--expose-gc', '--max-semi-space-size=1', '--lite-mode'],
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
