import {
  changeOf,
  shownKeys,
  type EdgeClusterObject,
  type EdgeWish,
} from '../data/edge/edge-cluster.ts'
import { useTexts } from '../words/language.ts'
import { Allowed } from './allowed.tsx'
import { CopyButton } from './copy-button.tsx'
import { machineTexts } from './machine-texts.ts'

interface HostKeysProps {
  readonly edge: EdgeClusterObject
  readonly ask: (wish: EdgeWish) => void
}

/** Keys that a person must compare before the hub logs in there. */
export function HostKeys({ edge, ask }: HostKeysProps) {
  const texts = useTexts(machineTexts)
  return shownKeys(edge).map((machine) => (
    <section key={machine.address} className="panel">
      <h2>{machine.address}</h2>
      <p>{texts.unknownKey}</p>
      <p className="command">
        <code>{machine.unknownHostKey}</code>
        <CopyButton text={machine.unknownHostKey} />
        <Allowed action={changeOf(edge)}>
          <button
            type="button"
            className="button"
            onClick={() => ask({ ask: 'accept-host-keys', machine })}
          >
            {texts.acceptKey}
          </button>
        </Allowed>
      </p>
    </section>
  ))
}
