import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'

const dayMs = 24 * 3_600_000

export interface KarmadaCredentials {
  /** The authority of the servers behind Karmada's API server, by which it verifies them. */
  readonly servingCaPem: string
  /** The files with which kube-apiserver acts as front proxy. */
  readonly frontProxy: { readonly ca: string; readonly cert: string; readonly key: string }
  /** The directory of tls.crt and tls.key of every server behind it. */
  readonly servingDirectory: string
}

/** The name by which Karmada's API server knows the one behind it, and verifies it. */
const aggregatedName = 'karmada-aggregated-apiserver.karmada-system.svc'
const searchName = 'karmada-search.karmada-system.svc'

/** Writes new credentials at each start: nothing that outlives the start knows them. */
export async function writeKarmadaCredentials(directory: string): Promise<KarmadaCredentials> {
  const servingDirectory = join(directory, 'karmada-serving')
  await mkdir(servingDirectory, { recursive: true })
  const serving = await issue('karmada-serving', {
    commonName: 'karmada',
    usage: 'serverAuth',
    dnsNames: ['localhost', aggregatedName, searchName],
  })
  const front = await issue('karmada-front-proxy', {
    commonName: 'front-proxy-client',
    usage: 'clientAuth',
    dnsNames: [],
  })
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name)
    await writeFile(path, text, { mode: 0o600 })
    return path
  }
  await write('karmada-serving/tls.crt', serving.certificatePem)
  await write('karmada-serving/tls.key', serving.privateKeyPem)
  return {
    servingCaPem: serving.authorityPem,
    servingDirectory,
    frontProxy: {
      ca: await write('front-proxy-ca.crt', front.authorityPem),
      cert: await write('front-proxy.crt', front.certificatePem),
      key: await write('front-proxy.key', front.privateKeyPem),
    },
  }
}

interface Asked {
  readonly commonName: string
  readonly usage: 'serverAuth' | 'clientAuth'
  readonly dnsNames: readonly string[]
}

/** Issues one certificate of a separate authority. */
async function issue(authorityName: string, { commonName, usage, dnsNames }: Asked) {
  const dates = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + 365 * dayMs }
  const authority = await createAuthority({ subject: { commonName: authorityName }, ...dates })
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName },
    publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: [usage],
    dnsNames: [...dnsNames],
    ipAddresses: usage === 'serverAuth' ? ['127.0.0.1'] : [],
  })
  return { authorityPem: authority.certificatePem, certificatePem, privateKeyPem }
}
