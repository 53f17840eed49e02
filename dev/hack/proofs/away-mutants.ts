import type { Mutant } from './mutant.ts'

/** Mutants of the promises about tokens and sessions on a node whose control plane is away. */
const tokens = 'packages/apiserver/node-tokens/node-token-authenticator'
const parts = 'packages/node-api/away-parts.test.ts'
const sessions = 'packages/node-api/answers/pod-sessions.ts'

export const mutants: readonly Mutant[] = [
  {
    proof: 'a node signs a token in vain where it could not request the same one',
    test: `${tokens}.test.ts`,
    file: `${tokens}.ts`,
    find: 'if (problem !== undefined) throw new TokenError(problem)',
    replace: '',
  },
  {
    proof:
      'a token of a node is refused if its key, its node, its dates or its content are not right',
    test: `${tokens}.test.ts`,
    file: `${tokens}.ts`,
    find: 'if (!node || !isSame || !isKeyOf(node, claims.certificatePem)) {',
    replace: 'if (!node || !isSame) {',
  },
  {
    proof: 'tokens of a node end with the pod, and with the node',
    test: `${tokens}.test.ts`,
    file: `${tokens}.ts`,
    find: "const isSame = claims.node.uid === '' || claims.node.uid === node?.metadata.uid",
    replace: 'const isSame = true',
  },
  {
    proof: 'a token that a node has signed brings no other token',
    test: `${tokens}.test.ts`,
    file: 'packages/apiserver/node-tokens/node-token-guard.ts',
    find: "return { verdict: 'deny', reason }",
    replace: "return { verdict: 'no-opinion', reason }",
  },
  {
    proof:
      'for weeks without the control plane a pod has tokens that have not ended, and then those of the control plane again',
    test: 'packages/kubelet/store/token-source.test.ts',
    file: 'packages/kubelet/store/token-source.ts',
    find: 'if (present && present.issuedAtMs <= nowMs && refreshTime(present) > nowMs) return present',
    replace: 'if (present) return present',
  },
  {
    proof: 'while the control plane is away, those who may read logs of pods on the node read them',
    test: parts,
    file: sessions,
    find: 'this.#mustBeHere(asked, rights.couldDo(user, right))',
    replace: 'this.#mustBeHere(asked, true)',
  },
  {
    proof:
      'a session with a pod of the node goes on when the control plane returns, and ends with the right to it',
    test: parts,
    file: sessions,
    find: "if (!rights.couldDo(user, right)) ended.abort(new Error('the user lost the right'))",
    replace: 'ended.signal.throwIfAborted()',
  },
  {
    proof: 'a user has a bounded number of sessions at once, and gets another when one ends',
    test: parts,
    file: sessions,
    find: 'if (this.#open >= sessionsMax || count >= sessionsPerUserMax) {',
    replace: 'if (this.#open >= sessionsMax) {',
  },
  {
    proof: 'no client makes an accepted object say that it was not accepted',
    test: 'packages/node-api/writes/accepted-mark.test.ts',
    file: 'packages/node-api/writes/accepted-mark.ts',
    find: 'if (object) object.metadata.annotations = others',
    replace: 'if (object) void others',
  },
]
