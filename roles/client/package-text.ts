import type { ShownPackage } from '../package/show-package.ts'
import { bytesText } from './text/human-figures.ts'
import { printTable } from './text/print-table.ts'

/** Prints the contents of an offline package, as text or as JSON with every file. */
export function printPackage(shown: ShownPackage, output: string | undefined): void {
  if (output === 'json') return console.log(JSON.stringify(shown))
  const { digest, files, bytes, manifest } = shown
  console.log(`${digest}: ${files} files, ${bytesText(bytes)}`)
  const sizeOf = (blobs: readonly { readonly bytes: number }[]): string =>
    bytesText(blobs.reduce((sum, blob) => sum + blob.bytes, 0))
  printTable([
    ['PART', 'ARCHITECTURE', 'SIZE', 'CONTENTS'],
    ...manifest.programs.map(({ architecture, version, content, engine }) => [
      'program',
      architecture,
      sizeOf(engine === undefined ? [content] : [content, engine.file]),
      version,
    ]),
    ...manifest.releases.map(({ name, architecture, debs }) => [
      name,
      architecture,
      sizeOf(debs.map(({ file }) => file)),
      `${debs.length} packages`,
    ]),
    ...(manifest.etcd ?? []).map(({ architecture, debs }) => [
      'etcd',
      architecture,
      sizeOf(debs.map(({ file }) => file)),
      debs[0]?.version ?? '',
    ]),
    ...manifest.images.map(({ architectures, content, blobs, references }) => [
      'images',
      architectures.join(',') || '-',
      sizeOf([content, ...blobs]),
      references.join(', '),
    ]),
  ])
}
