import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manifestBytes, packageDigest, type PackageManifest } from '../manifest.ts'
import { createOperatorKey, signBytes, type OperatorKey } from '../operator-key.ts'
import { PackageWriter } from '../write-package.ts'

export interface SmallPackage extends AsyncDisposable {
  /** An empty directory around the package. */
  readonly scratch: string
  readonly directory: string
  readonly digest: string
  readonly manifest: PackageManifest
  readonly key: OperatorKey
}

/** Makes a package with one file of each sort, in a temporary directory. */
export async function smallPackage(version = '0.2.0-abcdefabcdef'): Promise<SmallPackage> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-small-package-'))
  const directory = join(scratch, 'package')
  const key = createOperatorKey()
  await using writer = await PackageWriter.create(directory)
  const add = (text: string) => writer.addBytes(Buffer.from(text))
  const manifest: PackageManifest = {
    kind: 'SkerryOfflinePackage',
    schemaVersion: 1,
    programs: [
      {
        architecture: 'x86_64',
        version,
        form: 'bundle',
        content: await add('scripts'),
        engine: { version: '26.0.0', file: await add('engine') },
      },
    ],
    releases: [
      {
        name: 'debian-12',
        architecture: 'x86_64',
        debs: [
          { name: 'runc', version: '1:1.1-2~b+c', architecture: 'amd64', file: await add('deb') },
        ],
      },
    ],
    images: [
      {
        references: ['docker.io/library/app:v1'],
        architectures: [],
        form: 'oci',
        content: await add('{"manifests":[]}'),
        blobs: [await add('layer')],
      },
    ],
  }
  const digest = await writer.finish(manifest, key.privateKey)
  return {
    scratch,
    directory,
    digest,
    manifest,
    key,
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
  }
}

/** Signs a manifest that no program of ours would write. */
export function signManifest(
  manifest: PackageManifest,
  { privateKey }: OperatorKey,
): { readonly digest: string; readonly manifest: Buffer; readonly signature: string } {
  const bytes = manifestBytes(manifest)
  return { digest: packageDigest(bytes), manifest: bytes, signature: signBytes(bytes, privateKey) }
}
