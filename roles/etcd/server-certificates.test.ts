import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etcdOptionNames, servedEtcdOptionNames } from './option-names.ts'
import { refuseUnusedCertificates, type CertificateOptions } from './server-certificates.ts'

const none: CertificateOptions = {
  certFile: undefined,
  keyFile: undefined,
  trustedCaFile: undefined,
  allowedNames: [],
}

const unused: readonly (readonly [string, Partial<CertificateOptions>])[] = [
  ['--cert-file', { certFile: 'server.crt' }],
  ['--key-file', { keyFile: 'server.key' }],
  ['--trusted-ca-file', { trustedCaFile: 'ca.crt' }],
  ['--client-cert-allowed-cn', { allowedNames: ['kube-apiserver'] }],
]

for (const [option, given] of unused) {
  test(`${option} without encryption is refused, because it would protect nothing`, () => {
    const refused = new RegExp(`^${option} has no effect .* https:// in --listen-client-urls$`)
    assert.throws(() => refuseUnusedCertificates({ ...none, ...given }, etcdOptionNames), {
      message: refused,
    })
  })
}

test('a site names its own words for the options of the etcd that it serves', () => {
  const given = { ...none, certFile: 'server.crt' }
  assert.throws(() => refuseUnusedCertificates(given, servedEtcdOptionNames), {
    message: /^--serve-etcd-cert-file has no effect .* https:\/\/ in --serve-etcd$/,
  })
  refuseUnusedCertificates(none, servedEtcdOptionNames)
})
