/** Mutants of what the web console promises. */
import type { Mutant } from './mutant.ts'

export const mutants: readonly Mutant[] = [
  {
    proof: 'one stream carries a list, its changes and a Table, as the server has them',
    test: 'roles/hub/hub-console-watches.test.ts',
    file: 'packages/console-api/watches/watched-list.ts',
    find: '    if (event) this.#events.push(event)',
    replace: '    if (event && this.#events.length > 0) this.#events.push(event)',
  },
  {
    proof:
      'a tab goes on at its revision, and gets a new snapshot if the server no longer has that',
    test: 'roles/hub/hub-console-watches.test.ts',
    file: 'packages/console-api/watches/watched-list.ts',
    find: 'return isBehind ? undefined : at',
    replace: 'return at',
  },
  {
    proof: 'a watch is refused by the rights of its user, and others go on',
    test: 'roles/hub/hub-console-watches.test.ts',
    file: 'packages/console-api/watches/serve-tab.ts',
    find: `    if (!frame || !tab.take(frame, scope.signal)) webSocket.close(1008, 'unexpected frame')`,
    replace:
      '    if (!frame || !tab.take(frame, scope.signal) || frame.id > 1) webSocket.close(1008)',
  },
  {
    proof:
      'a user whose token is removed loses the session and its open watches within the time of the check',
    test: 'roles/hub/hub-console-sessions.test.ts',
    file: 'packages/console-api/sessions/session-authenticator.ts',
    find: 'const found = await usual.authenticate({ ...asked, ...credentialsOf(source) }, signal)',
    replace:
      'const found = await usual.authenticate({ ...asked, ...credentialsOf(source) }, signal).catch(() => ({ user: { ...record.user, groups: [], extra: {} } }))',
  },
  {
    proof: 'an interrupted list keeps its items and the time at which they were right',
    test: 'console/data/streams/watched-list.test.ts',
    file: 'console/data/streams/watched-list.ts',
    find: `const asOfMs = this.#view.phase === 'live' ? nowMs : this.#view.asOfMs`,
    replace: 'const asOfMs = nowMs',
  },
  {
    proof: 'a log goes on where it stopped, with one mark for each break',
    test: 'console/data/pods/follow-log.test.ts',
    file: 'console/data/pods/follow-log.ts',
    find: 'if (tail.resumeTime(name) !== undefined && failures === 0) {',
    replace: 'if (tail.resumeTime(name) !== undefined) {',
  },
  {
    proof: 'an edited text has neither status nor bookkeeping, and keeps the uid',
    test: 'console/data/objects/editable-object.test.ts',
    file: 'console/data/objects/editable-object.ts',
    find: `  'resourceVersion',
`,
    replace: `  'resourceVersion',
  'uid',
`,
  },
  {
    proof: 'markup in a log is text',
    test: 'console/data/pods/sgr-spans.test.ts',
    file: 'console/data/pods/sgr-spans.ts',
    find: `const clean = text.replaceAll(unwanted, '')`,
    replace: `const clean = text.replaceAll(/<[^>]*>/g, '')`,
  },
  {
    proof:
      'no text of others can become markup, a script or an address elsewhere: pages have no way for it',
    test: 'console/app/page-sources.test.ts',
    file: 'console/parts/object-yaml.tsx',
    find: `<pre tabIndex={0}>{yaml}</pre>`,
    replace: `<pre tabIndex={0} dangerouslySetInnerHTML={{ __html: yaml }} />`,
  },
  {
    proof: 'an answer shows the marks that turn letters around, and keeps them for an editor',
    test: 'console/data/hub/hub-request.test.ts',
    file: 'console/data/hub/hub-request.ts',
    find: `throw errorOfAnswer(showReorderingInJson(text), {`,
    replace: `throw errorOfAnswer(text, {`,
  },
  {
    proof:
      'a change is not applied to an object that has changed since its difference was looked at',
    test: 'console/data/objects/apply-object.test.ts',
    file: 'console/data/objects/apply-object.ts',
    find: `if ((await presentYaml(path)) !== seen) return false`,
    replace: `await presentYaml(path)`,
  },
  {
    proof: 'the cookie counts for the pages of the hub alone',
    test: 'roles/hub/hub-console-sessions.test.ts',
    file: 'packages/console-api/sessions/session-cookie.ts',
    find: 'return isOwn ? secret : undefined',
    replace: 'return isOwn || secret ? secret : undefined',
  },
  {
    proof: 'a user has at most 16 sessions, and failed logins of an address are bounded',
    test: 'roles/hub/hub-console-sessions.test.ts',
    file: 'packages/console-api/sessions/session-store.ts',
    find: 'own.length - perUserMax + 1',
    replace: 'own.length - perUserMax - 1',
  },
  {
    proof:
      'a tab that takes nothing makes its watch stale, and gets a snapshot when it takes again',
    test: 'roles/hub/hub-console-watches.test.ts',
    file: 'packages/console-api/watches/watched-list.ts',
    find: `        at = undefined
        out.note({ id, state: 'stale'`,
    replace: `        out.note({ id, state: 'stale'`,
  },
  {
    proof: 'frames that break the protocol end their stream alone, and so do too many streams',
    test: 'roles/hub/hub-console-watches.test.ts',
    file: 'packages/console-api/watches/watches-route.ts',
    find: `      using _place = places.take(admitted.user.name)
`,
    replace: '',
  },
  {
    proof: 'opening without end is refused to a tab, and its stream lives',
    test: 'roles/hub/hub-console-watches.test.ts',
    file: 'packages/console-api/watches/serve-tab.ts',
    find: 'if (this.#running.size >= watchesMax || this.#opensTooFast()) {',
    replace: 'if (this.#running.size >= watchesMax && this.#opensTooFast()) {',
  },
  {
    proof: 'a new login gets a new session, and ends the one that the browser had',
    test: 'roles/hub/hub-console-sessions.test.ts',
    file: 'packages/console-api/sessions/session-routes.ts',
    find: `    if (former !== undefined) await deps.sessions.end(former)
`,
    replace: '',
  },
  {
    proof:
      'Secrets of sessions hold no credential, and a copy or an invention of one opens nothing',
    test: 'roles/hub/hub-console-sessions.test.ts',
    file: 'packages/console-api/sessions/session-record.ts',
    find: 'if (!isMacOf(textOf(mac), text, hubKey)) return undefined',
    replace: `if (!isMacOf(textOf(mac), text, hubKey) && text === '') return undefined`,
  },
  {
    proof: 'a login leads to pages of the console alone, and a refused one back to the login page',
    test: 'roles/hub/hub-console-issuer.test.ts',
    file: 'packages/console-api/sessions/session-routes.ts',
    find: `.test(path) ? path : '/console/'`,
    replace: '.test(path) ? path : path',
  },
  {
    proof:
      'a write that a browser sends for a page of another site is refused, even without an Origin',
    test: 'packages/apiserver/request/own-origin.test.ts',
    file: 'packages/apiserver/request/own-origin.ts',
    find: `if (site === 'cross-site' || site === 'same-site') {`,
    replace: `if (site === 'cross-site') {`,
  },
  {
    proof:
      'a user sees and ends their own sessions, and only somebody who may delete them ends others',
    test: 'roles/hub/hub-console-people.test.ts',
    file: 'packages/console-api/sessions/session-list-route.ts',
    find: '.filter((record) => seesAll || isOf(record, admitted))',
    replace: '.filter((record) => seesAll || record !== undefined)',
  },
  {
    proof: 'a user is added with a token that is shown once, listed without it, and removed',
    test: 'roles/hub/hub-console-people.test.ts',
    file: 'roles/hub/console/user-hub.ts',
    find: "      'cache-control': 'no-store',\n",
    replace: '',
  },
  {
    proof: 'a user that cannot be is refused, and so is everybody who may not add users',
    test: 'roles/hub/hub-console-people.test.ts',
    file: 'roles/hub/console/users-route.ts',
    find: 'if (named.length < groups.length) throw',
    replace: 'if (named.length > groups.length) throw',
  },
  {
    proof: 'a login that is typed in is in a Secret, and the object only names it',
    test: 'console/pages/edge-cluster-form/cluster-form.test.ts',
    file: 'console/pages/edge-cluster-form/cluster-form.ts',
    find: 'credentials: { name: secret },',
    replace: 'credentials: { name: secret, password: machine.login.password },',
  },
  {
    proof: 'no kind of login puts a credential into the file',
    test: 'console/data/hub/kubeconfig.test.ts',
    file: 'console/data/hub/kubeconfig.ts',
    find: "'client-key': login.keyPath",
    replace: "'client-key-data': login.keyPath",
  },
]
