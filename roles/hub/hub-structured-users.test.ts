import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import {
  createHttpsTransport,
  fixedCredentials,
  openOidcIssuer,
  readBody,
  resources,
} from '@skerry/client'
import { startTestIssuer, type TestIssuer } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/**
 * Returns a configuration with people of one department, mapped by expressions, including values other than
 * names and groups.
 */
function configuration({ url, ca, clientId }: TestIssuer) {
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url, audiences: [clientId], certificateAuthority: ca },
        claimMappings: {
          username: { expression: "'id:' + claims.mail.split('@')[0]" },
          groups: { expression: "claims.teams.map(team, 'team:' + team)" },
          uid: { expression: 'claims.sub' },
          extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
        },
        claimValidationRules: [
          { expression: "claims.department == 'shops'", message: 'of another department' },
        ],
      },
    ],
  }
}

/** Resolves with the ID token of a person who logs in with these claims. */
async function tokenOf(issuer: TestIssuer, claims: Record<string, unknown>): Promise<string> {
  issuer.setPerson({ sub: '4711', ...claims })
  const { url: issuerUrl, clientId, ca: authorityPem } = issuer
  const client = { issuerUrl, clientId, scopes: [], authorityPem }
  const opened = await openOidcIssuer(client, { clock: systemClock }, soon())
  const visits: Promise<number>[] = []
  const { idToken } = await opened.logInByBrowser(0, (url) => void visits.push(issuer.visit(url)))
  await Promise.all(visits)
  return idToken
}

/** Resolves with the user that the cluster recognizes, or the reason for the refusal. */
async function whoAtEdge({ url, caPem }: TestHub, bearerToken: string): Promise<unknown> {
  using transport = createHttpsTransport(
    {
      server: `${url}/clusters/edge`,
      certificateAuthority: caPem,
      credentials: fixedCredentials({ bearerToken }),
    },
    { clock: systemClock },
  )
  const { status, body } = await transport.send(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'),
    },
    soon(),
  )
  const answer = JSON.parse((await readBody(body)).toString())
  if (status !== 201) return status
  const { 'authentication.kubernetes.io/credential-id': _id, ...extra } =
    answer.status.userInfo.extra ?? {}
  return { ...answer.status.userInfo, extra }
}

async function allow({ admin }: TestHub, subjects: { kind: 'Group' | 'User'; name: string }[]) {
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { name: 'edge-users' }
  const rule = { apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs: ['get'] }
  await admin.resource(resources.clusterRoles).create(
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: [{ ...rule, resourceNames: ['edge'] }],
    },
    soon(),
  )
  await admin.resource(resources.clusterRoleBindings).create(
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'edge-users' },
      subjects: subjects.map((each) => ({ ...each, apiGroup })),
    },
    soon(),
  )
}

test("a user who is known by expressions over an issuer's claims is that user at the edge, with every attribute", async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-users-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const issuer = stack.use(await startTestIssuer())
  const authenticationConfig = join(directory, 'authentication.json')
  await writeFile(authenticationConfig, JSON.stringify(configuration(issuer)))
  const fleet = stack.use(await startTestHub({ access: { authenticationConfig } }))
  await allow(fleet, [{ kind: 'Group', name: 'team:north' }])
  const policy = { groups: ['team:north', 'team:night'] }
  const edge = stack.use(await startTestEdge({ policy }))
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api, policy }))
  await agent.connected()
  const rita = { mail: 'rita@example.com', department: 'shops', tenant: 'blue' }
  assert.deepEqual(
    await whoAtEdge(fleet, await tokenOf(issuer, { ...rita, teams: ['north', 'night'] })),
    {
      username: 'id:rita',
      uid: '4711',
      groups: ['team:north', 'team:night', 'system:authenticated'],
      extra: { 'example.com/tenant': ['blue'] },
    },
  )
  const cases: readonly (readonly [string, object, number])[] = [
    ['no team of the hub', { teams: ['south'] }, 403],
    ['a team that the edge does not take', { teams: ['north', 'office'] }, 403],
    ['another department', { teams: ['north'], department: 'kitchens' }, 401],
  ]
  for (const [what, change, status] of cases) {
    const token = await tokenOf(issuer, { ...rita, ...change })
    assert.equal(await whoAtEdge(fleet, token), status, what)
  }
})

test("a hub's service account is itself at the edge, by a token that ends with it", async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const name = 'system:serviceaccount:robots:mower'
  await allow(fleet, [{ kind: 'User', name }])
  await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  await agent.connected()
  const { objects } = fleet.hub.plane
  const metadata = { name: 'mower', namespace: 'robots' }
  await objects.create(
    { group: '', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'robots' } },
  )
  const accounts = fleet.admin.resource(resources.serviceAccounts)
  await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, soon())
  using transport = await fleet.as({ commonName: 'olga', organizations: ['system:masters'] })
  const { body } = await transport.send(
    {
      method: 'POST',
      path: '/api/v1/namespaces/robots/serviceaccounts/mower/token',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(
        '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}',
      ),
    },
    soon(),
  )
  const { token } = JSON.parse((await readBody(body)).toString()).status
  const known = await whoAtEdge(fleet, token)
  assert.deepEqual(known, {
    username: name,
    uid: objects.get({ group: '', resource: 'serviceaccounts' }, 'robots', 'mower')?.metadata.uid,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:robots', 'system:authenticated'],
    extra: {},
  })
  await accounts.delete(metadata, soon())
  assert.equal(await whoAtEdge(fleet, token), 401)
})
