import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthority, generateKeyPair, signCertificate, type Authority } from '@skerry/pki'
import { EtcdClient } from './testing/etcd-client.ts'
import { openTestServer } from './testing/open-test-server.ts'

const lifetime = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
const key = Buffer.from('a')

async function issue(authority: Authority, commonName: string) {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const cert = await signCertificate(authority, {
    ...lifetime,
    subject: { commonName },
    publicKeyPem,
    ipAddresses: ['127.0.0.1'],
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth', 'clientAuth'],
  })
  return { cert, key: privateKeyPem }
}

test('only clients with a certificate of the authority and an allowed name come in', async () => {
  const authority = await createAuthority({ subject: { commonName: 'etcd-ca' }, ...lifetime })
  const other = await createAuthority({ subject: { commonName: 'other-ca' }, ...lifetime })
  const ca = authority.certificatePem
  const [own, good, unknown, foreign] = await Promise.all([
    issue(authority, 'etcd'),
    issue(authority, 'kube-apiserver'),
    issue(authority, 'somebody'),
    issue(other, 'kube-apiserver'),
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
