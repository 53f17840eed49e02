import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthority } from '@skerry/pki'
import { EtcdClient } from './testing/etcd-client.ts'
import { issueCertificate, lifetime } from './testing/issue-certificate.ts'
import { openTestServer } from './testing/open-test-server.ts'

const key = Buffer.from('a')

test('only clients with a certificate of the authority and an allowed name come in', async () => {
  const authority = await createAuthority({ subject: { commonName: 'etcd-ca' }, ...lifetime })
  const other = await createAuthority({ subject: { commonName: 'other-ca' }, ...lifetime })
  const ca = authority.certificatePem
  const [own, good, unknown, foreign] = await Promise.all([
    issueCertificate(authority, 'etcd'),
    issueCertificate(authority, 'kube-apiserver'),
    issueCertificate(authority, 'somebody'),
    issueCertificate(other, 'kube-apiserver'),
  ])
  await using test = await openTestServer()
  const clientNames = ['kube-apiserver']
  const tls = { cert: own.cert, key: own.key, clientCa: ca, clientNames }
  const { port } = await test.server.listen({ host: '127.0.0.1', port: 0 }, tls)
  const ask = async (identity: object): Promise<number> => {
    using client = new EtcdClient(`https://127.0.0.1:${port}`, { ca, ...identity })
    return (await client.call('Range', { key })).count
  }
  assert.equal(await ask(good), 0)
  for (const refused of [{}, unknown, foreign]) await assert.rejects(ask(refused))
  assert.equal(await ask(good), 0)
})
