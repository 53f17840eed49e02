import { posix } from 'node:path'
import type { PackageSource } from '../kind/edge-cluster.ts'
import { isOnEtcd } from '../kind/masters-checks.ts'
import { packageInForce } from '../kind/package-in-force.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { MachinePackage, MachineSystem } from '../contract/machine-package.ts'
import type { DigestedFile } from '../contract/shell.ts'
import { StepError, type MachineContext, type OwnMachineContext } from '../contract/step.ts'
import { ask, must, places } from './commands.ts'
import { parseFacts } from './preflight-facts.ts'

const bounds = provisioningBounds.steps

/** Prints what decides which parts of a package a machine needs. It is constant and changes nothing. */
const systemScript = `
. /etc/os-release 2>/dev/null
echo "release $ID-$VERSION_ID"
echo "architecture $(uname -m)"
echo "free $(df -Pk /var/lib | sed -n '2s/  */ /gp' | cut -d' ' -f4)"
dpkg-query -W -f='installed \${db:Status-Status} \${Package} \${Version}\\n' 2>/dev/null | sed -n 's/^installed installed /deb /p'
exit 0
`

/** A machine's system, its free bytes, and its packages as "name version". */
export interface SystemFacts extends MachineSystem {
  readonly freeBytes: number
  readonly installed: ReadonlySet<string>
}

export function parseSystem(text: string): SystemFacts {
  const facts = parseFacts(text)
  const first = (name: string): string => facts.get(name)?.[0] ?? ''
  return {
    release: first('release'),
    architecture: first('architecture'),
    freeBytes: Number(first('free')) * 1_024,
    installed: new Set(facts.get('deb') ?? []),
  }
}

/** Asks a machine for its system. */
export async function readSystem(
  context: Pick<OwnMachineContext, 'shell' | 'print' | 'signal'>,
): Promise<SystemFacts> {
  return parseSystem(await ask(context, ['sh', '-c', systemScript]))
}

/** Returns the package of the cluster, or throws: a step that needs one runs only if there is one. */
export function packageOf({ edge }: Pick<MachineContext, 'edge'>): PackageSource {
  const asked = packageInForce(edge)
  if (asked === undefined) throw new StepError('the object names no package', { isFinal: true })
  return asked
}

/** Asks the machine for its system, and the hub for the parts of the package for it. */
export async function packageFor(
  asked: PackageSource,
  context: MachineContext,
): Promise<MachinePackage & { readonly system: SystemFacts }> {
  const system = await readSystem(context)
  const { release, architecture } = system
  return { ...(await context.hub.package(asked, { release, architecture })), system }
}

export function copyPackage(context: MachineContext): Promise<string> {
  return copyParts(packageOf(context), context)
}

/**
 * Copies the parts of an offline package that a machine needs and lacks. Files that are there are compared with their
 * digest, and are not copied again. Nothing is unpacked.
 */
export async function copyParts(asked: PackageSource, context: MachineContext): Promise<string> {
  const { shell, signal, print } = context
  const found = await packageFor(asked, context)
  const etcd = hasMember(context) ? (found.etcd ?? []).map(({ file }) => file) : []
  const wanted = wantedFiles(found, found.system.installed, etcd)
  await must(context, ['install', '-d', '-m', '0711', '--', places.data])
  await must(context, ['install', '-d', '-m', '0700', '--', places.packages, places.blobs])
  const present = await presentFiles(wanted, context)
  const missing = wanted.filter(({ sha256 }) => !present.has(sha256))
  const bytes = bytesOf(missing)
  const needed = bytes + bytesOf(found.images) + bounds.spareBytes
  if (missing.length > 0 && !(found.system.freeBytes >= needed)) {
    const text = `/var/lib has ${megabytes(found.system.freeBytes)} free: the package needs ${megabytes(needed)}`
    throw new StepError(text)
  }
  const directory = posix.join(places.packages, asked.digest.slice('sha256:'.length))
  await shell.write(posix.join(directory, 'manifest.json'), found.manifest, 0o600)
  await shell.write(posix.join(directory, 'manifest.sig'), found.signature, 0o600)
  for (const batch of batchesOf(missing)) {
    print(`copying ${batch.length} files, ${megabytes(bytesOf(batch))}`)
    await shell.uploadByDigest(batch, places.blobs, signal)
  }
  return `${missing.length} files copied, ${megabytes(bytes)}; ${present.size} were there`
}

/** Reports whether a machine runs a member of the site's etcd. */
function hasMember({ edge, machine }: MachineContext): boolean {
  return machine.role === 'Witness' || (machine.role === 'Master' && isOnEtcd(edge.spec))
}

/** Returns each file once. Packages that the machine has in the same version are left out. */
export function wantedFiles(
  { program, debs, images }: Pick<MachinePackage, 'program' | 'debs' | 'images'>,
  installed: ReadonlySet<string>,
  etcd: readonly DigestedFile[] = [],
): DigestedFile[] {
  const lacking = debs.filter(({ name, version }) => !installed.has(`${name} ${version}`))
  const debFiles = lacking.map(({ file }) => file)
  const all = [...programFiles(program), ...debFiles, ...etcd, ...images]
  return [...new Map(all.map((file) => [file.sha256, file])).values()]
}

export function programFiles({ files, archive }: MachinePackage['program']): DigestedFile[] {
  return [...files.map(({ file }) => file), ...(archive === undefined ? [] : [archive])]
}

/** Resolves with the digests of the files that are on the machine and whole. */
export async function presentFiles(
  files: readonly DigestedFile[],
  context: MachineContext,
): Promise<ReadonlySet<string>> {
  const lines = files.map(({ sha256 }) => `${sha256}  ${posix.join(places.blobs, sha256)}\n`)
  // Its exit code says that some are missing or damaged, and so do its lines.
  const { stdout } = await context.shell.run(['sha256sum', '--check', '--ignore-missing', '-'], {
    input: lines.join(''),
    timeoutMs: bounds.copyMsMax,
    signal: context.signal,
    keepsFiles: true,
  })
  const whole = new Set(stdout.split('\n'))
  return new Set(
    files
      .map(({ sha256 }) => sha256)
      .filter((sum) => whole.has(`${posix.join(places.blobs, sum)}: OK`)),
  )
}

/** Parts the files into batches: a large file alone, small ones together. */
export function batchesOf(files: readonly DigestedFile[]): DigestedFile[][] {
  const batches: DigestedFile[][] = []
  let bytes = 0
  for (const file of files) {
    const last = batches.at(-1)
    const fits = bytes + file.bytes <= bounds.batchBytes
    if (last !== undefined && fits && last.length < bounds.batchFilesMax) last.push(file)
    else batches.push([file])
    bytes = batches.at(-1)?.length === 1 ? file.bytes : bytes + file.bytes
  }
  return batches
}

function bytesOf(files: readonly DigestedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`
}
