import { generateKeyPair, signCertificate, type Authority } from '@skerry/pki'

/** Authorities and certificates of tests are valid for an hour. */
export const lifetime = {
  notBeforeMs: Date.now() - 60_000,
  notAfterMs: Date.now() + 3_600_000,
}

/** Issues a certificate for a server or a client on the loopback. */
export async function issueCertificate(authority: Authority, commonName: string) {
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
