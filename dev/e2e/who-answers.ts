import type { TestHost } from '@skerry/testing'

/** Asks the node's DNS for the name, and then each time one of its addresses; prints the different answers. */
const script = `
const { Resolver } = require('node:dns').promises
const [name, dns, times, port] = process.argv.slice(1)
const resolver = new Resolver({ timeout: 2000, tries: 1 })
resolver.setServers([dns])
const ask = async () => {
  const addresses = await resolver.resolve4(name)
  const address = addresses[Math.floor(Math.random() * addresses.length)]
  const answer = await fetch('http://' + address + ':' + port, {
    headers: { connection: 'close' }, signal: AbortSignal.timeout(3000),
  })
  return (await answer.text()).trim()
}
(async () => {
  const answers = new Set()
  for (let time = 0; time < Number(times); time++) {
    answers.add(await ask().catch((error) => 'nobody: ' + (error.cause?.code ?? error.code ?? error.name)))
  }
  process.stdout.write(JSON.stringify([...answers].sort()))
})()
`

const clusterDns = '10.43.0.10'
const questions = 16

/**
 * Returns who answers at a name of the cluster's DNS when a program on this node asks, each once and in order. A question
 * without an answer counts as `nobody: <reason>`.
 */
export async function whoAnswers(node: TestHost, name: string, port = 80): Promise<string[]> {
  const { stdout, stderr } = await node.run(
    [process.execPath, '-e', script, name, clusterDns, String(questions), String(port)],
    { timeoutMs: 60_000 },
  )
  if (stdout === '') throw new Error(`Cannot ask ${name} on ${node.name}: ${stderr}`)
  // The script's own output.
  return JSON.parse(stdout) as string[]
}
