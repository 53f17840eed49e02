import { useState } from 'react'
import { objectPath } from '../../data/hub/api-paths.ts'
import { edgeClusters, type EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { removalPatch, type Replacement } from '../../data/edge/edge-machines.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import type { MachineResult } from '../../data/edge/machine-results.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { commandLine } from '../../data/objects/object-commands.ts'
import { CheckField } from '../../parts/check-field.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { placeWords } from './place-words.ts'
import { texts as both } from './texts.ts'

interface LeaveButtonsProps {
  readonly edge: EdgeClusterObject
  readonly machine: MachineResult
}

/** Takes a machine out of the cluster, or puts another one in its place. */
export function LeaveButtons({ edge, machine }: LeaveButtonsProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const removal = useAction()
  const replacing = useAction()
  const [isDead, setDead] = useState(false)
  const [next, setNext] = useState<Replacement>({ address: '', acceptsNewKeys: false })
  const { name, namespace } = edge.metadata
  const { address, isLeaving } = machine
  const path = objectPath(undefined, { ...edgeClusters, namespace, name })
  const send = async (replacement?: Replacement): Promise<void> => {
    const body = removalPatch(edge, { address, isDead }, replacement)
    await askHub(path, { method: 'PATCH', body, contentType: 'application/json-patch+json' })
  }
  const dead = isDead ? ' --dead' : ''
  const place = `${dead}${placeWords(edge)}`
  const choice = <CheckField label={texts.isDead} isChecked={isDead} onChange={setDead} />
  return (
    <>
      <ConfirmButton
        label={isLeaving ? texts.callDead : texts.remove}
        name={address}
        action={removal}
        act={() => send()}
      >
        <p>{texts.removeText}</p>
        {choice}
        <p>
          <CopyButton
            label={words.asCommand}
            text={`${commandLine('skerry', 'edge-cluster', 'remove-node', name, address)}${place}`}
          />
        </p>
      </ConfirmButton>
      {isLeaving ? undefined : (
        <ConfirmButton
          label={texts.replace}
          name={address}
          action={replacing}
          act={() => send(next)}
        >
          <p>{texts.replaceText}</p>
          <TextField
            label={texts.newAddress}
            value={next.address}
            onChange={(newAddress) => setNext({ ...next, address: newAddress })}
          />
          <CheckField
            label={texts.acceptsNewKeys}
            isChecked={next.acceptsNewKeys}
            onChange={(acceptsNewKeys) => setNext({ ...next, acceptsNewKeys })}
          />
          {choice}
          <p>
            <CopyButton
              label={words.asCommand}
              text={`${commandLine('skerry', 'edge-cluster', 'replace-node', name, address, next.address)}${place}`}
            />
          </p>
        </ConfirmButton>
      )}
    </>
  )
}
