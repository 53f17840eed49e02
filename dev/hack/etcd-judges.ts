/**
 * Lets real users of etcd judge `skerry etcd`. Development only; needs Go and its module proxy.
 *   node dev/hack/etcd-judges.ts --list
 *   node dev/hack/etcd-judges.ts storage [--on etcd] [-- -test.run TestCompact]
 * A judge builds what it needs the first time, starts its own server on loopback, prints what failed and a last line with
 * counts. With `--on etcd` it judges an etcd of the same version instead of ours, with `--on <program>` any program that
 * takes etcd's flags.
 */
import { parseArgs } from 'node:util'
import { buildOfEtcd, ownServer } from './etcd-judges/build-judges.ts'
import { judges } from './etcd-judges/judges-table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    on: { type: 'string', default: 'ours' },
  },
})
const [name = '', ...more] = positionals
const judge = judges[name]
if (values.list) {
  for (const [each, { title }] of Object.entries(judges)) console.log(`${each.padEnd(12)} ${title}`)
} else if (judge === undefined) {
  console.error(`Cannot judge by "${name}": say one of ${Object.keys(judges).join(', ')}`)
  process.exitCode = 2
} else {
  const { passed, failed } = await judge.run({ server: await server(values.on), more })
  for (const line of failed) console.log(`FAIL ${line}`)
  console.log(`${name} on ${values.on}: ${passed} passed, ${failed.length} failed`)
  if (failed.length > 0) process.exitCode = 1
}

async function server(on: string): Promise<string> {
  if (on === 'ours') return ownServer()
  return on === 'etcd' ? `${await buildOfEtcd('etcd')}/etcd` : on
}
