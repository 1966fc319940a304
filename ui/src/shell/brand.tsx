/** The mark and the name, within a `.brand`. */
export const Brand = () => (
  <>
    <img src="/favicon.svg" alt="" />
    Greenroom
  </>
)
