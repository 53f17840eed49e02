import type { Mutant } from './mutant.ts'

/** The mutants of promises about links, disks, clocks and processes that fail. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a link that stands still is reported within seconds, and goes on with its watches',
    test: 'roles/hub/hub-faults.test.ts',
    file: 'packages/tunnel/session/hub-session.ts',
    find: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
`,
    replace: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
    this.#end(this.#silence())
`,
  },
  {
    proof:
      'a suspended agent is reported as such, and is the same when it goes on; a killed one is gone',
    test: 'roles/hub/hub-faults.test.ts',
    file: 'packages/tunnel/session/hub-session.ts',
    find: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
`,
    replace: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
    this.#end(this.#silence())
`,
  },
  {
    proof: 'a replica whose machine lost power is reported within seconds, and then at once',
    test: 'roles/hub/hub-replica-silence.test.ts',
    file: 'packages/tunnel/session/hub-session.ts',
    find: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
`,
    replace: `    if (fault.isSent) return
`,
  },
  {
    proof: 'an API server that is away is not taken for an agent that is away',
    test: 'roles/hub/hub-faults.test.ts',
    file: 'packages/cluster-agent/forward/api-forwarder.ts',
    find: 'const { reason, status } = ownAnswerTo(error)',
    replace: `if (!(error instanceof StatusError)) throw error
      const { reason, status } = ownAnswerTo(error)`,
  },
  {
    proof:
      'on a full disk creates are refused, deletes go on, and writing resumes when there is space again',
    test: 'testing/hosts/full-disk.test.ts',
    file: 'packages/store/sqlite-store.ts',
    find: 'mayUseReserve: true })',
    replace: 'mayUseReserve: false })',
  },
  {
    proof: 'a store of another cluster than the keys is refused, even with --new-store',
    test: 'roles/control-plane/store-owner.test.ts',
    file: 'roles/control-plane/store-owner.ts',
    find: 'if (hash !== owner) throw foreign(place)',
    replace: 'if (hash !== owner && !place.newStore) throw foreign(place)',
  },
  {
    proof:
      'objects without any keys are refused before other keys are made, unless the old ones are given up',
    test: 'roles/control-plane/store-owner.test.ts',
    file: 'roles/control-plane/store-owner.ts',
    find: `    else if (!mayTakeOver(place)) throw keysMissing(place)
`,
    replace: '',
  },
  {
    proof: 'a flipped bit in an object costs that object, by name, and no other',
    test: 'roles/control-plane/require-store.test.ts',
    file: 'packages/store/row-checksum.ts',
    find: 'return checksum === crc32(value, crc32(head))',
    replace: 'return checksum !== undefined',
  },
  {
    proof: 'bytes flipped at random are refused in one line or named, and never served',
    test: 'packages/store/damaged-store.test.ts',
    file: 'packages/store/row-checksum.ts',
    find: 'return checksum === crc32(value, crc32(head))',
    replace: 'return checksum !== undefined',
  },
  {
    proof:
      'an object that cannot be read is deleted by those who may ignore that, and by nobody else',
    test: 'packages/apiserver/encryption/encryption.test.ts',
    file: 'packages/apiserver/registry/drop-unreadable.ts',
    find: `  await scope.requireVerb('unsafe-delete-ignore-read-errors')
`,
    replace: '',
  },
  {
    proof: 'a hub on a full disk reads and connects, refuses to write, and loses nothing',
    test: 'roles/hub/hub-faults.test.ts',
    file: 'packages/apiserver/audit/audit-log.ts',
    find: `        await this.#pause(retryMs)
`,
    replace: `        return
`,
  },
  {
    proof: 'an agent on a full disk asks for nothing, and registers by itself when there is space',
    test: 'roles/hub/hub-faults.test.ts',
    file: 'roles/agent/until-registered.ts',
    find: 'if (context.signal.aborted || isFinal(error)) throw error',
    replace: 'if (context.signal.aborted || isFinal(error) || backoff) throw error',
  },
  {
    proof:
      'a hub that is killed comes back with its clusters, and their agents reconnect by themselves',
    test: 'roles/hub/hub-killed.test.ts',
    file: 'packages/tunnel/agent/tunnel-agent.ts',
    find: 'else await pauseAfter(end, pauses, life)',
    replace: 'else throw new Error(end.reason)',
  },
  {
    proof: 'a cut tunnel heals; meanwhile the hub says so at once',
    test: 'roles/hub/hub.test.ts',
    file: 'packages/tunnel/agent/tunnel-agent.ts',
    find: 'else await pauseAfter(end, pauses, life)',
    replace: 'else throw new Error(end.reason)',
  },
  {
    proof:
      'each damaged file of a control plane is made again or refused in one line, and its keys are never replaced',
    test: 'roles/control-plane/damaged-data.test.ts',
    file: 'roles/control-plane/access-files.ts',
    find: 'if (!newKey) {',
    replace: 'if (newKey) {',
  },
  {
    proof:
      'each damaged file of the identity of a node is refused in one line, and no other is changed',
    test: 'roles/agent/damaged-identity.test.ts',
    file: 'packages/bootstrap/known-authority.ts',
    find: 'if (text === undefined || holdsCertificates(text)) return text',
    replace: 'if (text === undefined || holdsCertificates(text) || text.length > 0) return text',
  },
  {
    proof:
      'each damaged file of the identity of an agent is refused in one line, and no other is changed',
    test: 'roles/agent/damaged-identity.test.ts',
    file: 'packages/bootstrap/known-authority.ts',
    find: 'if (text === undefined || holdsCertificates(text)) return text',
    replace: 'if (text === undefined || holdsCertificates(text) || text.length > 0) return text',
  },
  {
    proof:
      'if the issuer does not know that its clock is ahead, the previous certificate is used again',
    test: 'packages/bootstrap/certificate-holder.test.ts',
    file: 'packages/bootstrap/certificate-holder.ts',
    find: 'return previous && !isGood(newest) && isGood(previous) ? previous : newest',
    replace: 'return previous && isGood(newest) && !isGood(newest) ? previous : newest',
  },
  {
    proof: 'one packet in ten lost: a large answer arrives whole',
    test: 'dev/e2e/lossy-link.test.ts',
    msMax: 150_000,
    file: 'packages/tunnel/session/tunnel-stream.ts',
    find: 'if (credit > 0 && !this.hasArrived) this.#giveCredit(credit)',
    replace: 'if (credit < 0 && !this.hasArrived) this.#giveCredit(credit)',
  },
  {
    proof:
      'all packets lost for seconds: this is reported, and everything goes on in the same tunnel',
    test: 'dev/e2e/lossy-link.test.ts',
    msMax: 150_000,
    file: 'packages/tunnel/session/hub-session.ts',
    find: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
`,
    replace: `    for (const stream of streams) stream.reset(resetCodes.cancel, fault)
    this.#end(this.#silence())
`,
  },
  {
    proof: 'small answers and typing pass large ones',
    test: 'dev/e2e/hub-network.test.ts',
    msMax: 180_000,
    file: 'packages/tunnel/traffic/turn-order.ts',
    find: 'const line = this.#owed(turnBytes) ?? this.#first()',
    replace:
      'const line = this.#lines.findLast(({ fresh, rest }) => fresh.length + rest.length > 0)',
  },
]
