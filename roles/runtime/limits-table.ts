/** Bounds of roles/runtime that no caller sets, by the file that keeps them. */
export const runtimeBounds = Object.freeze({
  clockCheck: Object.freeze({
    /**
     * The largest harmless difference, because certificates begin five minutes before they are issued, in
     * milliseconds.
     */
    differenceMsMax: 300_000,
    /** An agent or a node tries every few seconds; its clock need not be looked at as often. */
    lookMs: 60_000,
  }),
  compileWhenBusy: Object.freeze({
    /** The time of the start, which takes all of a small processor for some seconds, once. */
    startingMs: 10_000,
    lookMs: 2_000,
    /** The work allowed without compilers: this share of the time, and this much in addition. */
    idleShare: 0.05,
    workMsMax: 1_000,
  }),
  followApiServers: Object.freeze({
    /** The interval at which a node asks for the addresses of its API servers, in milliseconds. */
    lookMs: 30_000,
  }),
  machineAddress: Object.freeze({
    /** The interval at which the machine's addresses are read, in milliseconds. */
    lookMs: 3_000,
  }),
  returnMemory: Object.freeze({
    lookMs: 5_000,
    /** A busier process is left alone, because its engine collects anyway. */
    busyShareMax: 0.05,
    /**
     * The share of a process that always has a little to do, such as a hub of a hundred clusters: it is never
     * calm, but has no burst either.
     */
    quietShareMax: 0.2,
    quietLooksMin: 6,
    /**
     * Up to this size a collection takes a tenth of a second or two, for which a request may wait; more would
     * take too long.
     */
    quietBytesMax: 192 * 1024 * 1024,
    /**
     * The growth since the last collection that triggers the next: this factor of what was used, plus this many
     * bytes.
     */
    growthFactor: 1.2,
    growthBytes: 8 * 1024 * 1024,
    /** The growth of a calm process's heap from which it saves memory: a client is sending something large. */
    burstBytes: 64 * 1024 * 1024,
  }),
  roleSocket: Object.freeze({
    requestBytesMax: 4_096,
  }),
  standardInput: Object.freeze({
    /** The credentials for registries that a command reads from standard input, in bytes. */
    bytesMax: 1024 * 1024,
  }),
  wayToHub: Object.freeze({
    /**
     * The time for the proxy to answer, including its own connection, in milliseconds; proxies that resolve a
     * name are slow.
     */
    proxyAnswerMs: 15_000,
  }),
  youngBuffers: Object.freeze({
    /**
     * The bytes between two collections of the young generation. A buffer is small to the engine's young
     * generation, and large outside of it: long before that generation is full, 64 MiB of dead buffers make the
     * engine mark and sweep everything. Each byte of a tunnel leaves about three bytes of buffers behind: this is
     * well below.
     */
    bytesBetween: 8 * 1024 * 1024,
  }),
  nodeIdentity: Object.freeze({
    retry: Object.freeze({ initialMs: 1_000, maxMs: 60_000 }),
  }),
})
