import type { Mutant } from './mutant.ts'

/** The mutants of promises about how much of a server one user, reader or peer may take. */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'bodies beyond the bound of a user or of all users are refused, and leave nothing behind',
    test: 'packages/apiserver/http/request-bodies.test.ts',
    file: 'packages/apiserver/http/request-bodies.ts',
    find: `    this.#bytes -= bytes
`,
    replace: '',
  },
  {
    proof: 'a user works on one large body at a time, and rests as long as it took; others go on',
    test: 'packages/apiserver/http/request-bodies.test.ts',
    file: 'packages/apiserver/http/request-bodies.ts',
    find: `    if (restMs > 0) this.#restUntilMs.set(user, nowMs + restMs)
`,
    replace: '',
  },
  {
    proof: 'the bodies of one user share a bound, and another user is served',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/http/request-bodies.ts',
    find: 'if (ofUser > bodiesBytesPerUserMax || (isLarge',
    replace: 'if ((isLarge',
  },
  {
    proof: `a question about one's own rights is short`,
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/limits-table.ts',
    find: 'selfReviewBytesMax: 64 * 1024,',
    replace: 'selfReviewBytesMax: 3 * 1024 * 1024,',
  },
  {
    proof: 'a user who may not write is refused before any of the body arrives',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/request/pipeline.ts',
    find: `    await authorize(admitted, running)
    exchange.isAdmitted = true
    exchange.trace?.authorized()
    const served`,
    replace: `    for await (const _first of admitted.request.body) break
    await authorize(admitted, running)
    exchange.isAdmitted = true
    exchange.trace?.authorized()
    const served`,
  },
  {
    proof: 'selectors of hundreds of kilobytes are answered',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/api/selectors/selector-tokens.ts',
    find: `tokens.push({ type: 'end', text: '' })`,
    replace: `tokens.push(...tokens.splice(0), { type: 'end', text: '' })`,
  },
  {
    proof: 'patterns that backtrack forever elsewhere are answered here',
    test: 'packages/cel/hostile-expressions.test.ts',
    file: 'packages/cel/functions/texts.ts',
    find: 'const made = RE2JS.compile(source)',
    replace: `const expression = new RegExp(source)
    const made = { matcher: (text) => ({ find: () => expression.test(text) }) }`,
  },
  {
    proof: 'a text that exceeds its time is refused, and those behind it are read',
    test: 'packages/apiserver/yaml/yaml-reader.test.ts',
    file: 'packages/apiserver/yaml/yaml-reader.ts',
    find: `    this.#endThread()
    this.#settle(error)`,
    replace: `    this.#settle(error)`,
  },
  {
    proof: 'streams that stall in a long list hold a piece of it each, not the list',
    test: 'packages/apiserver/http/stalled-readers.test.ts',
    file: 'packages/apiserver/http/paced-output.ts',
    find: `      if (this.#target.write(piece)) continue
`,
    replace: `      if (this.#target.write(piece) || !this.#isDisposed) continue
`,
  },
  {
    proof: 'readers that drain together each get a little in each pass, with other work in between',
    test: 'packages/apiserver/http/output-turns.test.ts',
    file: 'packages/apiserver/http/output-turns.ts',
    find: 'return this.#passBytes < passBytesMax && tookMs < passMsMax',
    replace: 'return tookMs < passMsMax',
  },
  {
    proof: 'lists that one user leaves unread hold few compressors; others still have theirs',
    test: 'packages/apiserver/http/compress.test.ts',
    file: 'packages/apiserver/http/compress.ts',
    find: 'return this.#count < streamsMax && (this.#ofUsers.get(user) ?? 0) < streamsPerUserMax',
    replace: 'return this.#count < streamsMax',
  },
  {
    proof: 'a list by selectors gives way to other work between its objects',
    test: 'packages/apiserver/handlers/long-lists.test.ts',
    file: 'packages/apiserver/registry/list.ts',
    find: 'const others = isWhole ? undefined : giveWay(deps.clock)',
    replace: 'const others = isWhole || limit === 0 ? undefined : giveWay(deps.clock)',
  },
  {
    proof: 'a long list in YAML is YAML, and takes no longer than JSON',
    test: 'packages/apiserver/handlers/long-lists.test.ts',
    file: 'packages/apiserver/handlers/represent.ts',
    find: 'if (isLong(page, view)) return',
    replace: `if (encoding !== 'yaml' && isLong(page, view)) return`,
  },
  {
    proof: 'hundreds of handshakes that never end keep nobody out, and are dropped',
    test: 'packages/apiserver/http/hostile-handshakes.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: 'awaitHello(connection, { helloMs: limits.handshakeMs, clock }',
    replace: 'awaitHello(connection, { helloMs: 60 * limits.handshakeMs, clock }',
  },
  {
    proof: 'an answer too long for TCP has as many addresses as fit, and ends nothing',
    test: 'packages/service-proxy/dns/dns-server.test.ts',
    file: 'packages/service-proxy/dns/dns-server.ts',
    find: 'answers = isTcp ? answers.slice(0, Math.min(count, answers.length - 1)) : []',
    replace: 'answers = []',
  },
  {
    proof: 'calls that each stay below the limit are bounded together',
    test: 'packages/interpreter/custom/lua-interpreter.test.ts',
    file: 'packages/interpreter/custom/customization-budget.ts',
    find: '} else if (account.steps < 0) {',
    replace: '} else if (account.steps < -100 * stepsMax) {',
  },
  {
    proof: 'an object that could not be stored is refused with its limit, also by a dry run',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/limits-table.ts',
    find: 'objectBytesMax: 1.5 * 1024 * 1024,',
    replace: 'objectBytesMax: 15 * 1024 * 1024,',
  },
  {
    proof: 'a protobuf body of millions of fields is refused',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/limits-table.ts',
    find: 'fieldsMax: 300_000,',
    replace: 'fieldsMax: 300_000_000,',
  },
  {
    proof: 'a query of more parameters than anybody needs is refused',
    test: 'packages/apiserver/hostile-bodies.test.ts',
    file: 'packages/apiserver/limits-table.ts',
    find: 'parametersMax: 1_000,',
    replace: 'parametersMax: 10_000,',
  },
  {
    proof:
      'large requests take turns step by step, and a rest of the same length follows each step',
    test: 'packages/apiserver/http/work-turns.test.ts',
    file: 'packages/apiserver/http/work-turns.ts',
    find: 'this.#freeAtMs = nowMs + Math.min(tookMs, restMsMax)',
    replace: 'this.#freeAtMs = nowMs',
  },
  {
    proof: 'a list without an end is refused',
    test: 'packages/client/informer.test.ts',
    file: 'packages/client/resource-client.ts',
    find: 'if (pages > listPagesMax)',
    replace: 'if (pages > 10 * listPagesMax)',
  },
  {
    proof:
      'large bodies are worked on together within a bound of bytes, in their order; small ones go on',
    test: 'packages/apiserver/http/request-bodies.test.ts',
    file: 'packages/apiserver/http/request-bodies.ts',
    find: 'return bytes === 0 || bytes + work.bytes <= this.#limits.largeBytesAtOnceMax',
    replace: 'return bytes >= 0 || work.bytes >= 0',
  },
  {
    proof: 'a request that waits for a webhook leaves its room to those that the webhook sends',
    test: 'packages/apiserver/http/request-bodies.test.ts',
    file: 'packages/apiserver/http/request-bodies.ts',
    find: '({ isPaused, stepMs }) => isPaused || stepMs > awaySinceMs',
    replace: '({ stepMs }) => stepMs > awaySinceMs || true',
  },
  {
    proof:
      'a request that changes a larger object than its turn allowed for waits for another turn',
    test: 'packages/apiserver/http/request-bodies.test.ts',
    file: 'packages/apiserver/http/request-bodies.ts',
    find: 'if (end !== undefined && this.#hasRoomFor(work)) return',
    replace: 'if (end !== undefined) return',
  },
]
