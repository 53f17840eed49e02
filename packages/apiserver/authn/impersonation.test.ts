import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes, Authorizer } from '../contract/access.ts'
import { parseRequestInfo } from '../contract/request-info.ts'
import { requestAttributes } from '../contract/request-attributes.ts'
import { createImpersonation, type HeaderFields } from './impersonation.ts'

const agent = { name: 'agent', groups: ['agents'], extra: {} }

function allowing(...allowed: string[]): { authorizer: Authorizer; asked: string[] } {
  const asked: string[] = []
  const describe = ({ resource, subresource, name, namespace }: Attributes): string =>
    [resource?.resource, subresource, namespace, name].filter(Boolean).join(' ')
  const authorizer: Authorizer = {
    async authorize(question) {
      asked.push(describe(question))
      const isAllowed = allowed.includes('*') || allowed.includes(describe(question))
      return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
    },
  }
  return { authorizer, asked }
}

const cases: { name: string; fields: HeaderFields; user: unknown; asked: string[] }[] = [
  {
    name: 'a user',
    fields: [['Impersonate-User', 'jane']],
    user: { name: 'jane', groups: ['system:authenticated'], extra: {} },
    asked: ['users jane'],
  },
  {
    name: 'a user with groups, uid and extra',
    fields: [
      ['impersonate-user', 'jane'],
      ['Impersonate-Group', 'dev'],
      ['Impersonate-Group', 'ops'],
      ['Impersonate-Uid', '42'],
      ['Impersonate-Extra-Acme.com%2fproject', 'one'],
    ],
    user: {
      name: 'jane',
      uid: '42',
      groups: ['dev', 'ops', 'system:authenticated'],
      extra: { 'acme.com/project': ['one'] },
    },
    asked: ['users jane', 'uids 42', 'groups dev', 'groups ops', 'userextras acme.com/project one'],
  },
  {
    name: 'a user with extra whose keys every object has',
    fields: [
      ['Impersonate-User', 'jane'],
      ['Impersonate-Extra-__proto__', 'one'],
      ['Impersonate-Extra-Constructor', 'two'],
    ],
    user: {
      name: 'jane',
      groups: ['system:authenticated'],
      extra: Object.fromEntries([
        ['__proto__', ['one']],
        ['constructor', ['two']],
      ]),
    },
    asked: ['users jane', 'userextras __proto__ one', 'userextras constructor two'],
  },
  {
    name: 'a service account, which brings its groups',
    fields: [['Impersonate-User', 'system:serviceaccount:shop:robot']],
    user: {
      name: 'system:serviceaccount:shop:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      extra: {},
    },
    asked: ['serviceaccounts shop robot'],
  },
  {
    name: 'nobody in particular',
    fields: [['Impersonate-User', 'system:anonymous']],
    user: { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: {} },
    asked: ['users system:anonymous'],
  },
]
for (const { name, fields, user, asked } of cases) {
  test(`impersonating ${name} asks for the right to each part`, async () => {
    const allow = allowing('*')
    assert.deepEqual(await createImpersonation(allow.authorizer).apply(agent, fields), user)
    assert.deepEqual(allow.asked, asked)
  })
}

test('one missing right refuses the whole; parts without a user are a bad request', async () => {
  const { authorizer } = allowing('users jane')
  const impersonation = createImpersonation(authorizer)
  await assert.rejects(
    impersonation.apply(agent, [
      ['Impersonate-User', 'jane'],
      ['Impersonate-Group', 'system:masters'],
    ]),
    {
      code: 403,
      message:
        'groups "system:masters" is forbidden: User "agent" cannot impersonate resource "groups" in API group "" at the cluster scope',
    },
  )
  await assert.rejects(impersonation.apply(agent, [['Impersonate-Group', 'dev']]), { code: 400 })
})

const node = 'system:node:n1'
const onNode = {
  name: 'system:serviceaccount:kube-system:agent',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], other: ['x'] },
}

test('a pod acts as its own node by a right that names no node, and as that node alone', async () => {
  const asked: Attributes[] = []
  const authorizer: Authorizer = {
    async authorize(question) {
      asked.push(question)
      const isAllowed = question.verb.includes(':associated-node')
      return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
    },
  }
  const impersonation = createImpersonation(authorizer)
  const own = () => requestAttributes(parseRequestInfo('GET', '/api/v1/pods'))
  const user = await impersonation.apply(onNode, [['Impersonate-User', node]], '', own)
  assert.deepEqual(user, {
    name: node,
    groups: ['system:nodes', 'system:authenticated'],
    extra: {},
  })
  assert.deepEqual(
    asked.map(({ verb, resource, name, user: { extra } }) => [
      verb,
      resource?.resource,
      name,
      extra,
    ]),
    [
      ['impersonate-on:associated-node:list', 'pods', '', associated],
      ['impersonate:associated-node', 'nodes', '*', associated],
    ],
  )
  const other: HeaderFields = [['Impersonate-User', 'system:node:n2']]
  await assert.rejects(impersonation.apply(onNode, other, '', own), { code: 403 })
  const elsewhere = { ...onNode, name: 'jane' }
  await assert.rejects(
    createImpersonation(authorizer).apply(elsewhere, [['Impersonate-User', node]], '', own),
    { code: 403 },
  )
})

const associated = {
  'authentication.kubernetes.io/associated-node-keys': [
    'authentication.kubernetes.io/node-name',
    'other',
  ],
}

test('the right that last let a user in is checked first for that user', async () => {
  const verbs: string[] = []
  const authorizer: Authorizer = {
    async authorize({ verb }) {
      verbs.push(verb)
      return { verdict: verb === 'impersonate' ? 'allow' : 'no-opinion', reason: '' }
    },
  }
  const impersonation = createImpersonation(authorizer)
  const own = () => requestAttributes(parseRequestInfo('GET', '/api/v1/pods'))
  const fields: HeaderFields = [['Impersonate-User', 'jane']]
  await impersonation.apply(agent, fields, '', own)
  await impersonation.apply(agent, fields, '', own)
  assert.deepEqual(verbs, ['impersonate-on:user-info:list', 'impersonate', 'impersonate'])
})

test('without impersonation headers the user stays', async () => {
  const { authorizer, asked } = allowing()
  assert.equal(await createImpersonation(authorizer).apply(agent, [['accept', '*/*']]), agent)
  assert.deepEqual(asked, [])
})
