import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileDurably } from '@skerry/bootstrap'
import {
  openDataDirectory,
  writeFileDurably as writeRecord,
} from '../../roles/runtime/data-directory.ts'

/**
 * Writes keys and records of a role below the given directory, and ends. Each line on stdout is the path and the number
 * of a file that is on the disk.
 */
const [root = ''] = process.argv.slice(2)
const directory = join(root, 'skerry', 'site')
await openDataDirectory(directory)
tell('skerry/site/format.json', 0)
for (let count = 1; count <= 40; count += 1) {
  const text = `${count} ${'v'.repeat((count * 97) % 2_000)}.`
  const isKey = count % 2 === 0
  const path = isKey ? 'skerry/site/pki/ca.key' : 'skerry/site/record.json'
  if (isKey) await writeFileDurably(join(root, path), text, 0o600)
  else await writeRecord(join(root, path), text)
  tell(path, count)
}

function tell(path: string, count: number): void {
  writeSync(1, `${path} ${count}\n`)
}
