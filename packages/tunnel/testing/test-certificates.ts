import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

export interface TestIdentity {
  cert: string
  key: string
}

export interface TestAuthority {
  ca: string
  /** Issues a certificate for both ends; the name is also a DNS name, in addition to localhost. */
  issue(name: string): Promise<TestIdentity>
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const lifeMs = 86_400_000

/** A CA for one test run. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const notBefore = new Date(Date.now() - lifeMs)
  const notAfter = new Date(Date.now() + lifeMs)
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test authority',
    keys,
    notBefore,
    notAfter,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  })
  return {
    ca: ca.toString('pem'),
    async issue(name) {
      const own = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
      const cert = await x509.X509CertificateGenerator.create({
        subject: `CN=${name}`,
        issuer: ca.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        notBefore,
        notAfter,
        extensions: [
          new x509.SubjectAlternativeNameExtension([
            { type: 'dns', value: 'localhost' },
            { type: 'dns', value: name },
            { type: 'ip', value: '127.0.0.1' },
          ]),
        ],
      })
      const pkcs8 = await crypto.subtle.exportKey('pkcs8', own.privateKey)
      return { cert: cert.toString('pem'), key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') }
    },
  }
}
