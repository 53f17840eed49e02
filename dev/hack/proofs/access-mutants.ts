import type { Mutant } from './mutant.ts'

/** The mutants of promises of authentication, authorization and admission. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'RBAC allows exactly the requests that some bound rule names',
    test: 'packages/apiserver/authz/authz.test.ts',
    file: 'packages/apiserver/authz/policy-rules.ts',
    find: 'return names === undefined || names.length === 0 || names.includes(name)',
    replace: 'return names === undefined || names.length === 0 || name !== undefined',
  },
  {
    proof: 'a node reaches the objects that its own pods use, and no more',
    test: 'packages/apiserver/authz/authz.test.ts',
    file: 'packages/apiserver/authz/node-authorizer.ts',
    find: 'if (nodeReaches(question.objects, nodeName, { kind, namespace, name })) return allow',
    replace: `if (nodeName !== '') return allow`,
  },
  {
    proof: 'a role may hold only rights that its writer holds',
    test: 'packages/apiserver/authz/escalation-check.test.ts',
    file: 'packages/apiserver/authz/escalation-check.ts',
    find: 'confirm(request, role.rules ?? [], rules)',
    replace: 'confirm(request, [], rules)',
  },
  {
    proof:
      'secrets are encrypted where they are stored, and a replace moves them to the newest key',
    test: 'packages/apiserver/encryption/encryption.test.ts',
    file: 'packages/apiserver/encryption/encrypted-store.ts',
    find: 'return chain && write.value ? { ...write, value: chain.seal(write.value, write.key) } : write',
    replace: 'return write',
  },
  {
    proof: 'a request without credentials is anonymous; one with wrong credentials is refused',
    test: 'packages/apiserver/authn/authn.test.ts',
    file: 'packages/apiserver/authn/authenticator-chain.ts',
    find: `        failures.length === 0 && options.isAnonymousAllowed(credentials.path ?? '')`,
    replace: `        options.isAnonymousAllowed(credentials.path ?? '')`,
  },
  {
    proof: 'one missing right refuses the whole; parts without a user are a bad request',
    test: 'packages/apiserver/authn/impersonation.test.ts',
    file: 'packages/apiserver/authn/impersonation-modes.ts',
    find: 'for (const name of groups) await ask.about(claim(name))',
    replace: 'for (const name of groups.slice(1)) await ask.about(claim(name))',
  },
  {
    proof: 'a client of the cluster is itself, whatever its headers say',
    test: 'packages/apiserver/authn/request-header-authenticator.test.ts',
    file: 'packages/apiserver/authn/request-header-authenticator.ts',
    find: 'isProxy: isAllowed && isForClients && leadsToOne(options.proxyAuthorityPem()),',
    replace: 'isProxy: true,',
  },
  {
    proof: "a front proxy's certificate alone identifies nobody",
    test: 'packages/apiserver/authn/request-header-authenticator.test.ts',
    file: 'packages/apiserver/authn/request-header-authenticator.ts',
    find: 'isClient: leadsToOne(options.clientAuthorityPem()),',
    replace: 'isClient: true,',
  },
  {
    proof: 'a flood of guesses is refused before it is a flood of work',
    test: 'packages/apiserver/authn/authn.test.ts',
    file: 'packages/apiserver/authn/static-token-authenticator.ts',
    find: 'if (waiting >= waitingMax || own >= waitingPerIdMax) throw tooManyTokens()',
    replace: 'if (waiting >= waitingMax) throw tooManyTokens()',
  },
  {
    proof: 'a service account token works while its pod lives and its roles allow',
    test: 'packages/apiserver/default-access.test.ts',
    file: 'packages/apiserver/authn/service-account-authenticator.ts',
    find: 'if (found?.metadata.uid === reference.uid) {',
    replace: 'if (found === undefined || found.metadata.uid === reference.uid) {',
  },
  {
    proof: 'a node asks for certificates in its own name only',
    test: 'packages/apiserver/default-plugins.test.ts',
    file: 'packages/apiserver/admission-plugins/node-restriction.ts',
    find: 'if (commonName === `system:node:${nodeName}`) return undefined',
    replace: `if (commonName.startsWith('system:node:')) return undefined`,
  },
  {
    proof: 'only trusted clients can have a request traced',
    test: 'packages/apiserver/tracing/tracing.test.ts',
    file: 'packages/apiserver/tracing/request-trace.ts',
    find: `    user !== undefined &&
    (user.groups`,
    replace: `    user === undefined ||
    user.name !== '' ||
    (user.groups`,
  },
  {
    proof: 'a trace goes on for trusted clients; others only get a link to theirs',
    test: 'packages/apiserver/tracing/tracing.test.ts',
    file: 'packages/apiserver/tracing/request-trace.ts',
    find: '...(asked && isTrusted ? { parent: asked } : {}),',
    replace: '...(asked ? { parent: asked } : {}),',
  },
]
