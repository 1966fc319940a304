// Shows the picture that the address names, and tells the page around it how large it is; 0 for what is none.
const picture = new Image()
const tell = () => parent.postMessage({ width: picture.naturalWidth, height: picture.naturalHeight }, '*')
picture.referrerPolicy = 'no-referrer'
picture.alt = ''
picture.onload = tell
picture.onerror = tell
picture.src = decodeURIComponent(location.hash.slice(1))
document.body.append(picture)
