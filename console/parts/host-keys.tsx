import type { EdgeWish, ShownKey } from '../data/edge-cluster.ts'
import { useTexts } from '../words/language.ts'
import { CopyButton } from './copy-button.tsx'
import { machineTexts } from './machine-texts.ts'

interface HostKeysProps {
  readonly keys: readonly ShownKey[]
  readonly ask: (wish: EdgeWish) => void
}

/** Keys that a person must compare before the hub logs in there. */
export function HostKeys({ keys, ask }: HostKeysProps) {
  const texts = useTexts(machineTexts)
  return keys.map((machine) => (
    <section key={machine.address} className="panel">
      <h2>{machine.address}</h2>
      <p>{texts.unknownKey}</p>
      <p className="command">
        <code>{machine.unknownHostKey}</code>
        <CopyButton text={machine.unknownHostKey} />
        <button
          type="button"
          className="button"
          onClick={() => ask({ ask: 'accept-host-keys', machine })}
        >
          {texts.acceptKey}
        </button>
      </p>
    </section>
  ))
}
