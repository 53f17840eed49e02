import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createHttpsTransport, fixedCredentials, readBody } from '@skerry/client'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** Returns the user that the control plane recognizes, over the socket. */
async function whoAmI(
  { url, caPem }: TestHub,
  pair: { certificatePem: string; privateKeyPem: string },
): Promise<string> {
  using transport = createHttpsTransport(
    {
      server: url,
      certificateAuthority: caPem,
      credentials: fixedCredentials({
        certificate: pair.certificatePem,
        key: pair.privateKeyPem,
      }),
    },
    { clock: systemClock },
  )
  const answer = await transport.send(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: {
        'content-type': 'application/json',
        'x-remote-user': 'jane',
        'x-remote-group': 'system:masters',
      },
      body: Buffer.from(
        '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","metadata":{}}',
      ),
    },
    soon(),
  )
  const body = JSON.parse((await readBody(answer.body)).toString('utf8'))
  return body.status?.userInfo?.username ?? body.message
}

test('headers name the user for a front proxy, and for nobody else', async () => {
  await using hub = await startTestHub()
  const { pki, objects } = hub.hub.plane
  assert.equal(await whoAmI(hub, pki.frontProxyClient), 'jane')
  assert.equal(await whoAmI(hub, pki.admin), 'kubernetes-admin')
  const published = objects.get(
    { group: '', resource: 'configmaps' },
    'kube-system',
    'extension-apiserver-authentication',
  )
  // A ConfigMap, as the control plane has just written it.
  const data = published?.['data'] as Record<string, string>
  assert.equal(data['requestheader-client-ca-file'], pki.frontProxyAuthority.certificatePem)
  assert.equal(data['client-ca-file'], pki.authority.certificatePem)
  assert.equal(data['requestheader-allowed-names'], '["front-proxy-client"]')
  assert.equal(data['requestheader-extra-headers-prefix'], '["X-Remote-Extra-"]')
})
