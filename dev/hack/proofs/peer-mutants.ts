import type { Mutant } from './mutant.ts'

/** Promises about peers that answer oddly, and heads and certificates that no server may take as they are. */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'a connection that breaks together with its switch of protocols ends the request, not the process',
    test: 'packages/base/http/request-over.test.ts',
    file: 'packages/base/http/request-over.ts',
    find: `    if (answer.type === 'upgrade' && stream.destroyed) throw endOf(stream)
`,
    replace: '',
  },
  {
    proof: 'an error of a switched connection for which nobody listens does not end the process',
    test: 'packages/base/http/request-over.test.ts',
    file: 'packages/base/http/request-over.ts',
    find: `      stream.on('error', () => undefined)
      if (head.length > 0)`,
    replace: '      if (head.length > 0)',
  },
  {
    proof:
      'a proxy that resets its connection while the login is read is an error, and ends no process',
    test: 'packages/base/outbound/outbound.test.ts',
    file: 'packages/base/outbound/connect-by-proxy.ts',
    find: `    const login = await proxy.login?.(scope.signal)
    const raw = await toProxy(own, scope.signal)
`,
    replace: `    const raw = await toProxy(own, scope.signal)
    const login = await proxy.login?.(scope.signal)
`,
  },
  {
    proof: 'a session needs the right to create it, even as a GET',
    test: 'packages/apiserver/request/request-rights.test.ts',
    file: 'packages/apiserver/subresources/backend/pod-stream.ts',
    find: `        // A WebSocket comes as a GET: a user who may only read must not open a session with it.
        await request.requireVerb('create')
`,
    replace: '',
  },
  {
    proof: 'a port in a proxy path is decimal, or refused',
    test: 'packages/apiserver/subresources/backend/proxy-target.test.ts',
    file: 'packages/apiserver/subresources/backend/proxy-target.ts',
    find: String.raw`const port = /^\d+$/.test(text) ? Number(text) : 0`,
    replace: 'const port = Number(text)',
  },
  {
    proof:
      'two hundred unread watches over WebSockets hold only as much as one user may, and others are served',
    test: 'packages/apiserver/http/stalled-readers.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: 'writeBody: (body, out, reader) => writeAnswer(body, out, { ...options, reader }),',
    replace:
      'writeBody: (body, out, reader) => writeAnswer(body, out, { ...options, reader: reader && { ...reader, user: String(Math.random()) } }),',
  },
  {
    proof: 'an invalid handshake ends its session with the runtime, and is answered',
    test: 'packages/kubelet/server/stream-session.test.ts',
    msMax: 30_000,
    file: 'packages/kubelet/server/stream-session.ts',
    find: `    await joinChannels(webSocket, backend, { streams, rest, clock })
  } finally {
    backend.destroy()
`,
    replace: `    await joinChannels(webSocket, backend, { streams, rest, clock })
  } finally {
    backend.unref()
`,
  },
  {
    proof:
      'a session ends when the client leaves before the runtime has answered, or the runtime does not',
    test: 'packages/kubelet/server/stream-session.test.ts',
    file: 'packages/kubelet/server/stream-session.ts',
    find: `  client.once('close', left)
`,
    replace: '',
  },
  {
    proof:
      'a session ends when the client leaves before the runtime has answered, or the runtime does not',
    test: 'packages/kubelet/server/stream-session.test.ts',
    file: 'packages/kubelet/server/stream-session.ts',
    find: `throw unopened('the runtime did not answer the upgrade')`,
    replace: 'return received',
  },
  {
    proof: 'ends that session only',
    test: 'packages/apiserver/subresources/backend/odd-answers.test.ts',
    file: 'packages/apiserver/subresources/backend/upgrade-tunnel.ts',
    find: 'const { status, headers, hasBody } = peerHeadOf(response, { peer: peerAt(host), method })',
    replace: 'const { statusCode: status = 0, headers, hasBody = method !== host } = response',
  },
  {
    proof: 'concerns its request only',
    test: 'packages/apiserver/webhooks/odd-webhooks.test.ts',
    file: 'packages/apiserver/webhooks/call-webhook.ts',
    find: `    if (signal.aborted) throw error
`,
    replace: `    if (!(error instanceof WebhookSetupError)) throw error
`,
  },
  {
    proof: 'an authorization webhook that answers oddly has failed, and allows nothing',
    test: 'packages/apiserver/access-webhooks/odd-access-webhooks.test.ts',
    file: 'packages/apiserver/access-webhooks/access-webhook.ts',
    find: `return { verdict: options.onFailure, reason: '', error: cause }`,
    replace: `return { verdict: 'allow', reason: '', error: cause }`,
  },
  {
    proof: 'an authorization webhook that answers oddly has failed, and allows nothing',
    test: 'packages/apiserver/access-webhooks/odd-access-webhooks.test.ts',
    file: 'packages/apiserver/access-webhooks/post-review.ts',
    find: `  checkFields({ object: answer, schemas: reviewSchemas, schemaName: kind, kind })
`,
    replace: '',
  },
  {
    proof: 'an authentication webhook that answers oddly knows nobody',
    test: 'packages/apiserver/access-webhooks/odd-access-webhooks.test.ts',
    file: 'packages/apiserver/access-webhooks/post-review.ts',
    find: `  checkFields({ object: answer, schemas: reviewSchemas, schemaName: kind, kind })
`,
    replace: '',
  },
  {
    proof: 'an audit webhook that answers oddly loses its own events',
    test: 'packages/apiserver/access-webhooks/odd-access-webhooks.test.ts',
    msMax: 60_000,
    file: 'packages/apiserver/audit/audit-webhook.ts',
    find: `      lost.inc(lines.length)
`,
    replace: `      if (lines.length > 0) throw error
`,
  },
  {
    proof: 'is odd has no users, and nothing else happens',
    test: 'packages/apiserver/authn/jwt/odd-issuers.test.ts',
    file: 'packages/apiserver/authn/jwt/issuer-keys.ts',
    find: 'if (status !== 200) throw new TokenError(`oidc: ${url} answered ${status}`)',
    replace: 'if (status >= 500) throw new TokenError(`oidc: ${url} answered ${status}`)',
  },
  {
    proof: 'ends that login with its name',
    test: 'packages/client/oidc/odd-issuers.test.ts',
    file: 'packages/client/oidc/oidc-issuer.ts',
    find: 'const text = `${what} ${issuerUrl}: ${reasonOf(error)}`',
    replace: 'const text = `${what}: ${reasonOf(error)}${issuerUrl.slice(0, 0)}`',
  },
  {
    proof: 'odd discovery from an extension server leaves other groups unchanged',
    test: 'packages/apiserver/aggregation/odd-extensions.test.ts',
    file: 'packages/apiserver/aggregation/check-extension.ts',
    find: `  if (!isTexts(verbs) || !isTexts(shortNames) || !isTexts(categories)) return []
`,
    replace: `  if (!isTexts(shortNames) || !isTexts(categories)) return []
`,
  },
  {
    proof: 'a plugin that answers oddly is unhealthy until it answers rightly',
    test: 'packages/apiserver/encryption/kms/odd-plugins.test.ts',
    file: 'packages/apiserver/encryption/kms/kms-transformer.ts',
    find: `      await this.#ask()
      this.#problem = undefined
`,
    replace: `      await this.#ask()
      this.#problem = before
`,
  },
  {
    proof: 'fails that question only',
    test: 'packages/scheduler/odd-extenders.test.ts',
    file: 'packages/scheduler/http-extender.ts',
    find: 'if (status === 200) return read(JSON.parse(answer.toString()))',
    replace: 'if (status < 300) return read(JSON.parse(answer.toString()))',
  },
  {
    proof: 'fails that question only',
    test: 'packages/interpreter/webhook/odd-webhooks.test.ts',
    file: 'packages/interpreter/webhook/call-interpreter-webhook.ts',
    find: 'if (status !== 200) throw',
    replace: 'if (status >= 300) throw',
  },
  {
    proof: 'an odd answer of a pushed cluster ends one session only',
    test: 'roles/hub/hub-push-odd.test.ts',
    file: 'packages/base/http/request-over.ts',
    find: "outgoing.on('error', fail)",
    replace: "outgoing.on('continue', fail)",
  },
  {
    proof: 'odd events of a pushed cluster end their watch only',
    test: 'roles/hub/hub-push-odd.test.ts',
    file: 'packages/gateway/watch/json-event.ts',
    find: 'if (name === undefined || this.#next() !== colon) return this.#break()',
    replace: 'if (name === undefined || this.#next() !== colon) continue',
  },
  {
    proof: 'odd information about objects is forgotten when the server gives the right one',
    test: 'packages/cluster-agent/forward/odd-servers.test.ts',
    file: 'packages/client/informer.ts',
    find: `        failure = error
        this.#onFailure(error)
`,
    replace: `        if (!isStatusError(error, 'Expired')) throw error
        failure = error
        this.#onFailure(error)
`,
  },
  {
    proof: 'odd frames of a hub end its tunnel, and the next one is opened',
    test: 'packages/tunnel/odd-hubs.test.ts',
    file: 'packages/tunnel/web-socket/web-socket-endpoint.ts',
    find: 'if (!(error instanceof WebSocketFault)) throw error',
    replace: 'if (error instanceof WebSocketFault) throw error',
  },
  {
    proof: "an error about a peer's answer is not a panic of the server",
    test: 'packages/apiserver/audit/audit.test.ts',
    file: 'packages/apiserver/audit/audit-trail.ts',
    find: `    error instanceof TypeError ||
    error instanceof ReferenceError ||
`,
    replace: `    error instanceof Error ||
`,
  },
  {
    proof:
      'a warning in any language reaches its reader; one that would split the head is left out',
    test: 'packages/apiserver/http/answer-head.test.ts',
    file: 'packages/apiserver/http/warning-headers.ts',
    find: String.raw`if (text === '' || /\p{Cc}/u.test(text)) continue`,
    replace: `if (text === '') continue`,
  },
  {
    proof:
      'whatever code a webhook refuses with, its client reads an HTTP status, as does the request behind it',
    test: 'packages/apiserver/http/answer-head.test.ts',
    file: 'packages/apiserver/webhooks/denial.ts',
    find: 'code: isErrorCode(code) ? code : 400',
    replace: `code: typeof code === 'number' ? code : 400`,
  },
  {
    proof: 'a head has an HTTP status and headers, whatever made it',
    test: 'packages/apiserver/http/answer-head.test.ts',
    file: 'packages/apiserver/http/answer-head.ts',
    find: 'status: isFinal ? status : 500',
    replace: 'status',
  },
  {
    proof: 'a version is deprecated with a text that can stand in a header',
    test: 'packages/kinds/strategies/apiextensions/deprecation-warning.test.ts',
    file: 'packages/kinds/strategies/apiextensions/deprecation-warning.ts',
    find: 'if (!printable.test(char.toWellFormed())) {',
    replace: String.raw`if (/[\r\n]/.test(char)) {`,
  },
  {
    proof: 'one address is the same however it is written',
    test: 'packages/base/outbound/special-address.test.ts',
    file: 'packages/base/outbound/special-address.ts',
    find: `return [addressBytes(address).toString('hex'), ...embedded(address)]`,
    replace: `return [address, ...embedded(address)]`,
  },
  {
    proof:
      'a key of service accounts that can sign no tokens is refused by name, and left as it is',
    test: 'packages/bootstrap/cluster-pki.test.ts',
    file: 'packages/bootstrap/cluster-pki.ts',
    find: 'if (isSigningKey(privateKeyPem)) return privateKeyPem',
    replace: 'if (isSigningKey(privateKeyPem) || privateKeyPem) return privateKeyPem',
  },
  {
    proof: 'that a power cut interrupts at any step leaves a certificate with its key',
    test: 'packages/bootstrap/key-pair-files.test.ts',
    file: 'packages/bootstrap/key-pair-files.ts',
    find: 'await writeFileDurably(waitingKeyOf(paths), privateKeyPem, secretMode)',
    replace: 'await writeFileDurably(paths.keyPath, privateKeyPem, secretMode)',
  },
  {
    proof: 'an identity that a wrong clock makes useless stays until there is another',
    test: 'roles/agent/agent-identity.test.ts',
    file: 'roles/agent/agent-identity.ts',
    find: `  const home = { ...paths, isGood: () => !isUseless }
`,
    replace: `  if (isUseless) await rm(paths.certificatePath, { force: true })
  const home = { ...paths, isGood: () => !isUseless }
`,
  },
  {
    proof: 'a client that is refused for its certificate is judged again with each request',
    test: 'packages/apiserver/http/bad-certificates.test.ts',
    file: 'packages/apiserver/http/http-server.ts',
    find: `  if (isForCertificate(answer, peerOf(request.socket))) response.shouldKeepAlive = false
`,
    replace: '',
  },
  {
    proof:
      'a team writes policies for its namespace and the clusters that it may use, and nothing else',
    test: 'roles/hub/hub-tenants.test.ts',
    file: 'packages/karmada-kinds/policy/policy-checks.ts',
    find: `    namespace === policyNamespace
      ? []`,
    replace: `    namespace !== ''
      ? []`,
  },
  {
    proof:
      "a user who is known by expressions over an issuer's claims is that user at the edge, with every attribute",
    test: 'roles/hub/hub-structured-users.test.ts',
    file: 'packages/apiserver/authn/jwt/map-claims.ts',
    find: `return { name, groups, extra, ...(uid === '' ? {} : { uid }) }`,
    replace: `return { name, groups, extra: {}, ...(uid === '' ? {} : { uid }) }`,
  },
  {
    proof: `an agent at Karmada may touch its own cluster's objects, no secret and no other cluster`,
    test: 'packages/membership/rights/karmada-rights.test.ts',
    file: 'packages/membership/rights/karmada-rights.ts',
    find: `      resourceNames: [cluster],
      verbs: ['get', 'list', 'watch', 'patch', 'delete'],
`,
    replace: `      verbs: ['get', 'list', 'watch', 'patch', 'delete'],
`,
  },
  {
    proof:
      'each virtual cluster has an identity of its own at Karmada, reaches its own objects alone, and renews itself',
    test: 'roles/agent/karmada-identities.test.ts',
    file: 'roles/agent/karmada-identities.ts',
    find: 'clusterName: child.name,',
    replace: 'clusterName: options.clusterName,',
  },
  {
    proof: 'a box that changes passing traffic gets nowhere, nor does one that replays it',
    test: 'roles/hub/hub-network.test.ts',
    file: 'packages/tunnel/web-socket/web-socket-stream.ts',
    find: `      endpoint.terminate()
`,
    replace: '',
  },
  {
    proof: 'the output of a machine does not steer the terminal of its reader',
    test: 'roles/client/edge-clusters/edge-cluster-watch.test.ts',
    file: 'roles/client/text/plain-text.ts',
    find: '\\p{Cc}',
    replace: '',
  },
]
