// node compile_ksy.js LANGUAGE,... FOLDER FILE...: compiles descriptions, given as JSON, into FOLDER/LANGUAGE.
const fs = require("fs");
const path = require("path");
const compiler = require("kaitai-struct-compiler");

async function main(languages, folder, files) {
    for (const language of languages) {
        const place = path.join(folder, language);
        fs.mkdirSync(place, { recursive: true });
        for (const file of files) {
            const described = JSON.parse(fs.readFileSync(file));
            try {
                const made = await compiler.compile(language, described, null, false);
                for (const name in made)
                    fs.writeFileSync(path.join(place, name), made[name]);
            } catch (error) {
                throw new Error(`${language}, ${path.basename(file)}: ${error.message || error}`);
            }
        }
    }
}

main(process.argv[2].split(","), process.argv[3], process.argv.slice(4)).catch(error => {
    console.error(error.message);
    process.exit(1);
});
