/** Text files that vite puts into the bundle. */
declare module '*?raw' {
  const text: string
  export default text
}
