import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { cloudAddress, edgeAddress } from '@skerry/testing'

const dayMs = 24 * 3_600_000

/** Writes ca.crt, server.{crt,key,pfx} and client.{crt,key}; all ends of all peers use these. */
export async function writeCertificates(directory: string): Promise<void> {
  const dates = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + 30 * dayMs }
  const authority = await createAuthority({ subject: { commonName: 'bench' }, ...dates })
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(directory, name), text, { mode: 0o600 })
  await write('ca.crt', authority.certificatePem)
  for (const name of ['server', 'client']) {
    const { publicKeyPem, privateKeyPem } = await generateKeyPair()
    const certificatePem = await signCertificate(authority, {
      subject: { commonName: name },
      publicKeyPem,
      ...dates,
      keyUsages: ['digitalSignature'],
      extendedUsages: ['serverAuth', 'clientAuth'],
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1', cloudAddress, edgeAddress],
    })
    await write(`${name}.crt`, certificatePem)
    await write(`${name}.key`, privateKeyPem)
  }
  writePkcs12(directory)
}

export const pkcs12Password = 'bench'

/** The only form that rathole takes. */
function writePkcs12(directory: string): void {
  const files = ['-in', 'server.crt', '-inkey', 'server.key', '-certfile', 'ca.crt']
  const output = ['-out', 'server.pfx', '-passout', `pass:${pkcs12Password}`]
  execFileSync('openssl', ['pkcs12', '-export', ...files, ...output], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
