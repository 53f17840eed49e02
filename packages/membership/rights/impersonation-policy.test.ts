import assert from 'node:assert/strict'
import { test } from 'node:test'
import { impersonationRefusal, impersonationRules } from './impersonation-policy.ts'

test('an agent acts for the users that its policy names, and for nobody in a denied group', () => {
  const table: [
    what: string,
    policy: object,
    headers: Record<string, string | string[]>,
    why: RegExp | undefined,
  ][] = [
    ['anyone', {}, { 'impersonate-user': 'olga' }, undefined],
    ['nobody', {}, {}, /names no user/],
    ['an empty name', {}, { 'impersonate-user': '' }, /names no user/],
    ['two names', {}, { 'impersonate-user': ['olga', 'rita'] }, /names no user/],
    ['a listed user', { users: ['olga'] }, { 'impersonate-user': 'olga' }, undefined],
    ['another user', { users: ['olga'] }, { 'impersonate-user': 'rita' }, /user "rita"/],
    [
      'a user of listed groups',
      { groups: ['staff', 'shop'] },
      { 'impersonate-user': 'olga', 'impersonate-group': ['staff', 'shop'] },
      undefined,
    ],
    [
      'a user of one more group',
      { groups: ['staff'] },
      { 'impersonate-user': 'olga', 'impersonate-group': ['staff', 'admins'] },
      /group "admins"/,
    ],
    [
      'a denied group that is listed, too',
      { groups: ['system:masters'], deniedGroups: ['system:masters'] },
      { 'impersonate-user': 'olga', 'impersonate-group': 'system:masters' },
      /group "system:masters"/,
    ],
    [
      'a name beyond ASCII',
      { users: ['Ólga'] },
      { 'impersonate-user': Buffer.from('Ólga').toString('latin1') },
      undefined,
    ],
  ]
  for (const [what, policy, headers, why] of table) {
    const refusal = impersonationRefusal(policy, headers)
    if (why === undefined) assert.equal(refusal, undefined, what)
    else assert.match(refusal ?? '', why, what)
  }
})

test('the rights at the API server are those of the policy, and an empty list gives none', () => {
  const namesOf = (policy: object, resource: string) =>
    impersonationRules(policy)
      .filter(({ resources }) => resources?.includes(resource))
      .map(({ resourceNames }) => resourceNames ?? 'all')
  assert.deepEqual(namesOf({}, 'users'), ['all'])
  assert.deepEqual(namesOf({ users: ['olga'] }, 'users'), [['olga']])
  assert.deepEqual(namesOf({ users: ['olga'] }, 'serviceaccounts'), [])
  const account = 'system:serviceaccount:shop:robot'
  assert.deepEqual(namesOf({ users: [account] }, 'users'), [])
  assert.deepEqual(namesOf({ users: [account] }, 'serviceaccounts'), [['robot']])
  // A user who authenticated with a token of the hub has this key.
  assert.deepEqual(namesOf({ groups: ['staff'] }, 'userextras/hub.skerry.io/token-id'), ['all'])
  const masters = { groups: ['staff', 'system:masters'], deniedGroups: ['system:masters'] }
  assert.deepEqual(namesOf(masters, 'groups'), [['staff']])
})
