import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostDns } from './host-dns.ts'

const stub = 'nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n'
const behind = 'nameserver 9.9.9.9\nsearch corp.example\n'

const cases: readonly [string, string | undefined, string | undefined, string[]][] = [
  ['the stub of systemd-resolved', stub, behind, ['9.9.9.9']],
  ['a stub whose resolvers are not known', stub, undefined, ['127.0.0.53']],
  ['a stub that asks nobody', stub, '# none\n', ['127.0.0.53']],
  [
    'its own server next to another one',
    'nameserver ::1\nnameserver 1.1.1.1\n',
    behind,
    ['::1', '1.1.1.1'],
  ],
  ['resolvers elsewhere', 'nameserver 1.1.1.1\n', behind, ['1.1.1.1']],
  ['no resolvers', undefined, behind, []],
]
for (const [what, own, asked, expected] of cases) {
  test(`pods of a machine with ${what} ask ${expected.join(', ') || 'nobody'}`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-host-dns-'))
    try {
      const [path, behindPath] = [join(directory, 'own'), join(directory, 'behind')]
      if (own !== undefined) await writeFile(path, own)
      if (asked !== undefined) await writeFile(behindPath, asked)
      assert.deepEqual((await hostDns(path, { behind: behindPath })).servers, expected)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
}
