import { Modal, type ModalProps } from '@mantine/core'
import { useFocusBack } from './use-focus-back.ts'

/** A dialog that is there only while it is open. */
export function OpenedModal(props: Omit<ModalProps, 'opened'>) {
  useFocusBack()
  return <Modal opened {...props} />
}
